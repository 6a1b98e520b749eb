"""Small model files of every format, written by hand, so that the expected contents are known."""

import base64
import json
import struct
import zipfile

import numpy as np

CORNERS = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
QUADS = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
TRIANGLES = np.concatenate([QUADS[:, [0, 1, 2]], QUADS[:, [0, 2, 3]]])


def stl_binary(vertices=CORNERS, faces=TRIANGLES, count=None):
    rows = [struct.pack("<12fH", 0, 0, 0, *np.asarray(vertices)[face].ravel(), 0) for face in faces]
    return b"made by hand".ljust(80) + struct.pack("<I", len(faces) if count is None else count) + b"".join(rows)


def stl_text(name="cube", vertices=CORNERS, faces=TRIANGLES):
    lines = [f"solid {name}"]
    for face in faces:
        lines += ["facet normal 0 0 0", " outer loop"]
        lines += [f"  vertex {x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices)[face].tolist()]
        lines += [" endloop", "endfacet"]
    return "\n".join([*lines, f"endsolid {name}", ""]).encode()


def obj(vertices=CORNERS, faces=QUADS, name=None):
    lines = ["# by hand", "mtllib nowhere.mtl"] + ([f"o {name}"] if name else [])
    lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices).tolist()]
    lines += ["f " + " ".join(str(i + 1) for i in face) for face in faces.tolist()]
    return "\n".join([*lines, ""]).encode()


def ply_text(vertices=CORNERS, faces=QUADS, counts=None):
    n, m = counts or (len(vertices), len(faces))
    lines = ["ply", "format ascii 1.0", f"element vertex {n}", *(f"property double {axis}" for axis in "xyz")]
    lines += [f"element face {m}", "property list uchar int vertex_indices", "end_header"]
    lines += [f"{x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices).tolist()]
    lines += [" ".join(map(str, [len(face), *face])) for face in faces.tolist()]
    return "\n".join([*lines, ""]).encode()


def ply_binary(vertices=CORNERS, faces=TRIANGLES, counts=None):
    n, m = counts or (len(vertices), len(faces))
    head = f"ply\nformat binary_little_endian 1.0\nelement vertex {n}\n"
    head += "".join(f"property double {axis}\n" for axis in "xyz")
    head += f"element face {m}\nproperty list uchar int vertex_indices\nend_header\n"
    body = np.asarray(vertices, "<f8").tobytes() + b"".join(struct.pack("<B3i", 3, *face) for face in faces.tolist())
    return head.encode() + body


def off(vertices=CORNERS, faces=QUADS, counts=None):
    n, m = counts or (len(vertices), len(faces))
    lines = ["OFF # by hand", f"{n} {m} 0"] + [f"{x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices).tolist()]
    return "\n".join([*lines, *(" ".join(map(str, [len(f), *f])) for f in faces.tolist()), ""]).encode()


def gltf_tree(nodes, uri=None, meshes=None, **changes):
    """Return a glTF with the unit cube as mesh 0, and as mesh 1 of two primitives."""
    points, index = CORNERS.astype("<f4").tobytes(), TRIANGLES.astype("<u2").tobytes()
    half = len(index) // 2
    data = points + index
    accessors = [
        {"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3"},
        {"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR"},
        {"bufferView": 2, "componentType": 5123, "count": 18, "type": "SCALAR"},
        {"bufferView": 3, "componentType": 5123, "count": 18, "type": "SCALAR"},
    ]
    views = [(0, 96), (96, 2 * half), (96, half), (96 + half, half)]
    tree = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(nodes)))}],
        "nodes": nodes,
        "meshes": meshes
        or [
            {"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]},
            {"primitives": [{"attributes": {"POSITION": 0}, "indices": i} for i in (2, 3)]},
        ],
        "accessors": accessors,
        "bufferViews": [{"buffer": 0, "byteOffset": start, "byteLength": size} for start, size in views],
        "buffers": [{"byteLength": len(data)}],
    }
    if uri is None:
        uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    if uri:
        tree["buffers"][0]["uri"] = uri
    return tree | changes, data


def gltf(nodes, **changes):
    return json.dumps(gltf_tree(nodes, **changes)[0]).encode()


def glb(nodes, **changes):
    tree, data = gltf_tree(nodes, uri="", **changes)
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
    return struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks


def write_3mf(path, objects, unit="millimeter"):
    """Write a 3MF of objects (name, vertices, faces), each placed once."""
    body, items = "", ""
    for i, (name, vertices, faces) in enumerate(objects, 1):
        points = "".join(f'<vertex x="{x!r}" y="{y!r}" z="{z!r}"/>' for x, y, z in vertices.tolist())
        rows = "".join(f'<triangle v1="{a}" v2="{b}" v3="{c}"/>' for a, b, c in faces.tolist())
        mesh = f"<mesh><vertices>{points}</vertices><triangles>{rows}</triangles></mesh>"
        body += f'<object id="{i}" name="{name}" type="model">{mesh}</object>'
        items += f'<item objectid="{i}"/>'
    space = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02"
    text = f'<model unit="{unit}" xmlns="{space}"><resources>{body}</resources><build>{items}</build></model>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("3D/3dmodel.model", text)


def step(solids, assemblies=(), colours=None, balls=(), unit=".MILLI.", datums=()):
    """Return AP214 text, in millimetres, of solids with flat faces: (name, vertices, polygons).

    Solids of the same name are one product. ``datums`` are names of products that consist of a curve, or of points if
    the name begins with "points". If a solid has the name, the curve is added to its product. ``balls`` are (name,
    radius, middle). ``unit`` is another prefix of the metre, or the name of 25.4 mm. ``assemblies`` are (name, [(name
    of a solid or an earlier assembly, name of the occurrence, shift)]). ``colours`` maps names of solids to colours.
    """
    lines, made = [], {}

    def add(text):
        lines.append(f"#{len(lines) + 1}={text};")
        return f"#{len(lines)}"

    def numbers(v):
        return ",".join(repr(float(x)) for x in v)

    context = add("APPLICATION_CONTEXT('automotive design')")
    add(f"APPLICATION_PROTOCOL_DEFINITION('international standard','automotive_design',2000,{context})")
    product_context = add(f"PRODUCT_CONTEXT('',{context},'mechanical')")
    definition_context = add(f"PRODUCT_DEFINITION_CONTEXT('part definition',{context},'design')")
    prefix = unit if unit[0] in ".$" else ".MILLI."
    length = add(f"(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT({prefix},.METRE.))")
    if prefix != unit:
        measure = add(f"LENGTH_MEASURE_WITH_UNIT(LENGTH_MEASURE(25.4),{length})")
        dimensions = add("DIMENSIONAL_EXPONENTS(1.,0.,0.,0.,0.,0.,0.)")
        length = add(f"(CONVERSION_BASED_UNIT('{unit}',{measure})LENGTH_UNIT()NAMED_UNIT({dimensions}))")
    angle = add("(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.))")
    solid_angle = add("(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT())")
    accuracy = add(f"UNCERTAINTY_MEASURE_WITH_UNIT(LENGTH_MEASURE(1.E-7),{length},'distance_accuracy_value','')")
    space = add(
        f"(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNCERTAINTY_ASSIGNED_CONTEXT(({accuracy}))"
        f"GLOBAL_UNIT_ASSIGNED_CONTEXT(({length},{angle},{solid_angle}))REPRESENTATION_CONTEXT('',''))"
    )

    def axes_at(point=(0, 0, 0)):
        origin = add(f"CARTESIAN_POINT('',({numbers(point)}))")
        z, x = add("DIRECTION('',(0.,0.,1.))"), add("DIRECTION('',(1.,0.,0.))")
        return add(f"AXIS2_PLACEMENT_3D('',{origin},{z},{x})")

    def product(name, representation, axes):
        its = add(f"PRODUCT('{name}','{name}','',({product_context}))")
        formation = add(f"PRODUCT_DEFINITION_FORMATION('','',{its})")
        definition = add(f"PRODUCT_DEFINITION('design','',{formation},{definition_context})")
        shape = add(f"PRODUCT_DEFINITION_SHAPE('','',{definition})")
        add(f"SHAPE_DEFINITION_REPRESENTATION({shape},{representation})")
        made[name] = definition, representation, axes
        return definition

    for name, radius, middle in balls:
        axes = axes_at()
        pole = add(f"CARTESIAN_POINT('',({numbers(np.add(middle, (0, 0, -radius)))}))")
        point = add(f"VERTEX_POINT('',{pole})")
        loop = add(f"VERTEX_LOOP('',{point})")
        bound = add(f"FACE_BOUND('',{loop},.T.)")
        surface = add(f"SPHERICAL_SURFACE('',{axes_at(middle)},{float(radius)!r})")
        face = add(f"ADVANCED_FACE('',({bound}),{surface},.T.)")
        shell = add(f"CLOSED_SHELL('',({face}))")
        brep = add(f"MANIFOLD_SOLID_BREP('',{shell})")
        product(name, add(f"ADVANCED_BREP_SHAPE_REPRESENTATION('',({axes},{brep}),{space})"), axes)
    breps = {}
    for name, vertices, polygons in solids:
        points = [add(f"CARTESIAN_POINT('',({numbers(v)}))") for v in vertices]
        faces = []
        for polygon in polygons:
            a, b, c = (np.asarray(vertices[i], float) for i in polygon[:3])
            normal, along = np.cross(b - a, c - a), b - a
            loop = add(f"POLY_LOOP('',({','.join(points[i] for i in polygon)}))")
            bound = add(f"FACE_OUTER_BOUND('',{loop},.T.)")
            up = add(f"DIRECTION('',({numbers(normal / np.linalg.norm(normal))}))")
            right = add(f"DIRECTION('',({numbers(along / np.linalg.norm(along))}))")
            place = add(f"AXIS2_PLACEMENT_3D('',{points[polygon[0]]},{up},{right})")
            plane = add(f"PLANE('',{place})")
            faces.append(add(f"FACE_SURFACE('',({bound}),{plane},.T.)"))
        shell = add(f"CLOSED_SHELL('',({','.join(faces)}))")
        brep = add(f"FACETED_BREP('{name}',{shell})")
        if name in (colours or {}):
            colour = add(f"COLOUR_RGB('',{numbers(colours[name])})")
            for wrapped in (
                "FILL_AREA_STYLE_COLOUR('',{})",
                "FILL_AREA_STYLE('',({}))",
                "SURFACE_STYLE_FILL_AREA({})",
                "SURFACE_SIDE_STYLE('',({}))",
                "SURFACE_STYLE_USAGE(.BOTH.,{})",
                "PRESENTATION_STYLE_ASSIGNMENT(({}))",
            ):
                colour = add(wrapped.format(colour))
            style = colour
            styled = add(f"STYLED_ITEM('',({style}),{brep})")
            add(f"MECHANICAL_DESIGN_GEOMETRIC_PRESENTATION_REPRESENTATION('',({styled}),{space})")
        breps.setdefault(name, []).append(brep)
    for name, its in breps.items():
        axes = axes_at()
        product(name, add(f"FACETED_BREP_SHAPE_REPRESENTATION('',({axes},{','.join(its)}),{space})"), axes)
    for name in datums:
        axes = axes_at()
        ends = [add(f"CARTESIAN_POINT('',({numbers(end)}))") for end in [(0, 0, 0), (50, 0, 0), (50, 10, 0)]]
        if name.startswith("points"):
            drawn = add(f"GEOMETRIC_SET('',({','.join(ends)}))")
        else:
            line = add(f"POLYLINE('',({','.join(ends)}))")
            drawn = add(f"GEOMETRIC_CURVE_SET('',({line}))")
        wires = add(f"GEOMETRICALLY_BOUNDED_WIREFRAME_SHAPE_REPRESENTATION('',({axes},{drawn}),{space})")
        if name in made:
            add(f"SHAPE_REPRESENTATION_RELATIONSHIP('','',{wires},{made[name][1]})")
        else:
            product(name, wires, axes)
    for name, children in assemblies:
        turns = [add("DIRECTION('',(0.,0.,1.))"), add("DIRECTION('',(1.,0.,0.))")]
        corners = [add(f"CARTESIAN_POINT('',({numbers(v)}))") for v in [(0, 0, 0), *(shift for *_, shift in children)]]
        places = [add(f"AXIS2_PLACEMENT_3D('',{corner},{turns[0]},{turns[1]})") for corner in corners]
        placement = add(f"SHAPE_REPRESENTATION('',({','.join(places)}),{space})")
        definition = product(name, placement, places[0])
        for (child, called, _), place in zip(children, places[1:], strict=True):
            its, part, axes = made[child]
            use = add(f"NEXT_ASSEMBLY_USAGE_OCCURRENCE('{len(lines)}','{called}','',{definition},{its},$)")
            moved = add(f"ITEM_DEFINED_TRANSFORMATION('','',{axes},{place})")
            joint = add(
                f"(REPRESENTATION_RELATIONSHIP('','',{part},{placement})"
                f"REPRESENTATION_RELATIONSHIP_WITH_TRANSFORMATION({moved})SHAPE_REPRESENTATION_RELATIONSHIP())"
            )
            shape = add(f"PRODUCT_DEFINITION_SHAPE('','',{use})")
            add(f"CONTEXT_DEPENDENT_SHAPE_REPRESENTATION({joint},{shape})")
    head = "FILE_DESCRIPTION((''),'2;1');\nFILE_NAME('','',(''),(''),'','','');\nFILE_SCHEMA(('AUTOMOTIVE_DESIGN'));"
    body = "\n".join(lines)
    return f"ISO-10303-21;\nHEADER;\n{head}\nENDSEC;\nDATA;\n{body}\nENDSEC;\nEND-ISO-10303-21;\n".encode()


def write_zip(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def _numbers(rows, between):
    return between.join(" ".join(map(repr, row)) for row in np.asarray(rows).tolist())


def threedxml(shifts=(0.0, 10.0)):
    """Return the files of a 3DXML with one cube and an instance at each shift along x."""
    ns = 'xmlns="http://www.3ds.com/xsd/3DXML"'
    points = _numbers(CORNERS, ", ")
    rep = (
        f'<XMLRepresentation {ns}><Root><Rep><Faces><Face triangles="{_numbers(TRIANGLES, " ")}"/></Faces>'
        f"<VertexBuffer><Positions>{points}</Positions><Normals>{points}</Normals></VertexBuffer></Rep></Root></XMLRepresentation>"
    )
    instances = "".join(
        f'<Instance3D id="{10 + k}" name="cube.{k}"><IsAggregatedBy>1</IsAggregatedBy><IsInstanceOf>2</IsInstanceOf>'
        f"<RelativeMatrix>1 0 0 0 1 0 0 0 1 {x} 0 0</RelativeMatrix></Instance3D>"
        for k, x in enumerate(shifts)
    )
    product = (
        f'<Model_3dxml {ns}><ProductStructure root="1"><Reference3D id="1" name="whole"/>'
        f'<Reference3D id="2" name="cube"/>{instances}'
        '<ReferenceRep id="3" name="rep" format="TESSELLATED" associatedFile="urn:3DXML:cube.3DRep"/>'
        '<InstanceRep id="4" name="r"><IsAggregatedBy>2</IsAggregatedBy><IsInstanceOf>3</IsInstanceOf></InstanceRep>'
        "</ProductStructure></Model_3dxml>"
    )
    return {
        "Manifest.xml": f"<Manifest {ns}><Root>two.3dxml</Root></Manifest>", "two.3dxml": product, "cube.3DRep": rep,
    }  # fmt: skip


def xaml(shift=5.0):
    ns = 'xmlns="http://schemas.microsoft.com/winfx/2006/xaml/presentation"'
    points = _numbers(CORNERS, ", ")
    return (
        f'<Viewport3D {ns}><ModelVisual3D><ModelVisual3D.Transform><MatrixTransform3D Matrix="1 0 0 0 0 1 0 0 0 0 1 0 '
        f'{shift} 0 0 1"/></ModelVisual3D.Transform><ModelVisual3D.Content><GeometryModel3D><GeometryModel3D.Geometry>'
        f'<MeshGeometry3D Positions="{points}" Normals="{points}" TriangleIndices="{_numbers(TRIANGLES, " ")}"/>'
        "</GeometryModel3D.Geometry></GeometryModel3D></ModelVisual3D.Content></ModelVisual3D></Viewport3D>"
    ).encode()


VTK = """# vtk DataFile Version 3.0
by hand
ASCII
DATASET POLYDATA
POINTS 8 double
{points}
POLYGONS {count} {size}
{faces}
"""


def vtk(faces=QUADS, **changes):
    rows = np.column_stack([np.full(len(faces), len(faces[0])), faces])
    words = {"points": _numbers(CORNERS, "\n"), "count": len(faces), "size": rows.size, "faces": _numbers(rows, "\n")}
    return VTK.format(**(words | changes)).encode()
