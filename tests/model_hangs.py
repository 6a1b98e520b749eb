"""Small files, each under 1 MB, that once made a reader hang or fill the memory."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable

import numpy as np

NAMESPACE = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02"


def off_with_blanks(size: int) -> bytes:
    """Return an OFF with a line of blanks, and one line more than its header declares."""
    return b"OFF\n3 1 0\n0 0 0\n1 0 0\n" + b" " * size + b"\n0 1 0\n3 0 1 2\n3 0 1 2\n"


def triangle_dae(head: str) -> bytes:
    """Return a Collada of one triangle, with ``head`` before its geometries."""
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">{head}
<library_geometries><geometry id="g" name="g"><mesh>
<source id="p"><float_array id="pa" count="9">0 0 0 1 0 0 0 1 0</float_array><technique_common>
<accessor source="#pa" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>""".encode()


def package_3mf(model: str) -> bytes:
    """Return a 3MF of a model."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("3D/3dmodel.model", f'<model unit="millimeter" xmlns="{NAMESPACE}">{model}</model>')
    return file.getvalue()


def nested_3mf(levels: int, copies: int) -> bytes:
    """Return a 3MF of a triangle in ``levels`` objects of ``copies`` components each."""
    objects = [
        '<object id="0"><mesh><vertices><vertex x="0" y="0" z="0"/><vertex x="1" y="0" z="0"/>'
        '<vertex x="0" y="1" z="0"/></vertices><triangles><triangle v1="0" v2="1" v3="2"/></triangles></mesh></object>'
    ]
    for level in range(levels):
        below = f'<component objectid="{level}"/>' * copies
        objects.append(f'<object id="{level + 1}"><components>{below}</components></object>')
    return package_3mf(f'<resources>{"".join(objects)}</resources><build><item objectid="{levels}"/></build>')


def glb(tree: dict, data: bytes) -> bytes:
    """Return a GLB of a glTF and its buffer."""
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def triangle_glb(nodes: list[dict], roots: list[int]) -> bytes:
    """Return a GLB of a triangle, mesh 0, and nodes."""
    data = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes()
    return glb(
        {
            "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": roots}], "nodes": nodes,
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
            "accessors": [
                {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}
            ],
            "bufferViews": [{"buffer": 0, "byteLength": 36}], "buffers": [{"byteLength": 36}],
        },
        data,
    )  # fmt: skip


def chain_glb(count: int) -> bytes:
    """Return a GLB of a triangle at the end of a chain of nodes."""
    return triangle_glb([*({"children": [k + 1]} for k in range(count - 1)), {"mesh": 0}], [0])


def urdf(count: int) -> bytes:
    """Return a URDF of boxes on fixed joints."""
    box = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
    links = "".join(f'<link name="l{k}">{box}</link>' for k in range(count + 1))
    joints = "".join(
        f'<joint name="j{k}" type="fixed"><parent link="l{k}"/><child link="l{k + 1}"/></joint>' for k in range(count)
    )
    return f'<robot name="r">{links}{joints}</robot>'.encode()


def mjcf(count: int) -> bytes:
    """Return an MJCF of copies of a ball."""
    return (
        f'<mujoco><worldbody><replicate count="{count}" offset="1 0 0"><body><freejoint/><geom size="0.1"/></body>'
        "</replicate></worldbody></mujoco>"
    ).encode()


def field_mjcf(count: int) -> bytes:
    """Return an MJCF of a flat height field."""
    return (
        f'<mujoco><asset><hfield name="h" nrow="{count}" ncol="{count}" size="1 1 1 1"/></asset><worldbody>'
        '<geom type="hfield" hfield="h"/></worldbody></mujoco>'
    ).encode()


def grid_vtk(count: int) -> bytes:
    """Return a VTK file of a regular grid without data."""
    lines = f"x\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS {count} {count} {count}\nORIGIN 0 0 0\nSPACING 1 1 1\n"
    return f"# vtk DataFile Version 3.0\n{lines}".encode()


def mimics(count: int) -> bytes:
    """Return a URDF of joints, each of which mimics the previous one."""
    limit = '<limit lower="0" upper="1" effort="1" velocity="1"/>'
    links = "".join(f'<link name="l{k}"/>' for k in range(count + 1))
    joints = "".join(
        f'<joint name="j{k}" type="prismatic"><parent link="l{k}"/><child link="l{k + 1}"/>{limit}'
        + (f'<mimic joint="j{k - 1}"/>' if k else "")
        + "</joint>"
        for k in range(count)
    )
    return f'<robot name="r">{links}{joints}</robot>'.encode()


def nested_dae(levels: int) -> bytes:
    """Return a Collada of nodes, each with two instances of the previous one."""
    nodes = '<node id="k0"><instance_geometry url="#g"/></node>' + "".join(
        f'<node id="k{k + 1}"><instance_node url="#k{k}"/><instance_node url="#k{k}"/></node>' for k in range(levels)
    )
    text = triangle_dae("").decode()
    text = text.replace("<library_visual_scenes>", f"<library_nodes>{nodes}</library_nodes><library_visual_scenes>")
    return text.replace('<node id="n">', f'<node id="n"><instance_node url="#k{levels}"/>').encode()


def copied_dae(count: int) -> bytes:
    """Return a Collada with copies of a triangle."""
    instance = b'<instance_geometry url="#g"/>'
    return triangle_dae("").replace(instance, instance * count)


def solids_stl(count: int) -> bytes:
    """Return an STL of solids with the same name."""
    corners = "".join(f"vertex {corner}\n" for corner in ("0 0 0", "1 0 0", "0 1 0"))
    facet = f"facet normal 0 0 1\nouter loop\n{corners}endloop\nendfacet\n"
    return f"solid a\n{facet}endsolid a\n".encode() * count


CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4")


def named_stl(count: int) -> bytes:
    """Return an STL of solids with different names and one triangle each."""
    solid = solids_stl(1).decode()
    return "".join(solid.replace("solid a", f"solid a{k}") for k in range(count)).encode()


def named_obj(count: int) -> bytes:
    """Return an OBJ of objects with different names and one triangle each."""
    return ("v 0 0 0\nv 1 0 0\nv 0 1 0\n" + "".join(f"o g{k}\nf 1 2 3\n" for k in range(count))).encode()


def parts_glb(meshes: int, primitives: int, nodes: int) -> bytes:
    """Return a GLB of meshes with ``primitives`` triangles each, and nodes that place them in turn."""
    file = triangle_glb([{"mesh": k % meshes, "name": "n"} for k in range(nodes)], [*range(nodes)])
    size = struct.unpack_from("<I", file, 12)[0]
    tree = json.loads(file[20 : 20 + size])
    tree["meshes"] = [{"name": "m", "primitives": [{"attributes": {"POSITION": 0}}] * primitives}] * meshes
    return glb(tree, CORNERS.tobytes())


def packed_stl(count: int) -> bytes:
    """Return a zip of STL files of one triangle each."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for k in range(count):
            archive.writestr(f"{k}.stl", struct.pack("<80xI12x", 1) + CORNERS.tobytes() + b"\0\0")
    return file.getvalue()


#: The content of each file by its name, and the parts of the error message if the file is invalid.
FILES: dict[str, tuple[Callable[[], bytes], tuple[str, ...]]] = {
    "blanks.off": (lambda: off_with_blanks(900_000), ("follows them",)),
    "solids.stl": (lambda: solids_stl(8000), ("8000", "'a'", "5000")),
    "names.stl": (lambda: named_stl(7000), ("7000 parts", "2629")),
    "few_names.stl": (lambda: named_stl(2000), ()),
    "names.obj": (lambda: named_obj(45_000), ("45000 parts", "2513")),
    "few_names.obj": (lambda: named_obj(2000), ()),
    "primitives.glb": (lambda: parts_glb(1, 14_000, 1), ("14000 parts", "2000")),
    "meshes.glb": (lambda: parts_glb(9000, 1, 9000), ("9000 parts", "2963")),
    "few_meshes.glb": (lambda: parts_glb(2000, 1, 2000), ()),
    "nodes.glb": (lambda: parts_glb(1, 1, 25_000), ("25000 objects", "13571")),
    "few_nodes.glb": (lambda: parts_glb(1, 1, 5000), ()),
    "models.zip": (lambda: packed_stl(7000), ("7000 parts", "2442")),
    "few_models.zip": (lambda: packed_stl(2000), ()),
    "nested.gltf": (lambda: b'{"extras":' + b"[" * 400_000 + b"]" * 400_000 + b"}", ("JSON", "too deep")),
    "units.dae": (lambda: triangle_dae("<!--" + "<unit " * 100_000 + "-->"), ()),
    "nodes.dae": (lambda: nested_dae(18), ("262145", "5000")),
    "copies.dae": (lambda: copied_dae(5000), ()),
    "many_copies.dae": (lambda: copied_dae(30_000), ("30000", "copies")),
    "components.3mf": (lambda: nested_3mf(18, 2), ("524287", "5000")),
    "components_of_components.3mf": (lambda: nested_3mf(12, 3), ("797161", "5000")),
    "chain.glb": (lambda: chain_glb(40_000), ("nodes[39999]", "200")),
    "dots.toml": (lambda: ("a" + ".a" * 20_000 + " = 1").encode(), ("a.a.a", "20 names")),
    "links.urdf": (lambda: urdf(5000), ()),
    "mimics.urdf": (lambda: mimics(4000), ("'j101'", "100")),
    "replicate.xml": (lambda: mjcf(1_000_000), ("5 s", "1024 MiB")),
    "field.xml": (lambda: field_mjcf(60_000), ("5 s", "1024 MiB")),
    "grid.vtk": (lambda: grid_vtk(3000), ("5 s", "1024 MiB")),
}
