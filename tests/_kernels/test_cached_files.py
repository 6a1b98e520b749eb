"""The folders and files of the machine code cache, their permissions, and the reports of refused paths."""

from __future__ import annotations

import json
import os
import pickle
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest
from message_checks import assert_names

from gjk3d._kernels import builder, decorators, files, store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX rights")
OTHER_USER = 12345


@pytest.fixture(autouse=True)
def fresh_folder():
    """Clear the cached choice of the folder before and after every test."""
    files.folder.cache_clear()
    yield
    files.folder.cache_clear()


@pytest.fixture(autouse=True)
def places(monkeypatch, tmp_path) -> SimpleNamespace:
    """Return the three candidate folders of the cache, and clear the record of refused paths."""
    monkeypatch.setattr(files, "refused", {})
    monkeypatch.setattr(files.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setenv("GJK3D_CACHE_DIR", str(tmp_path / "named"))
    monkeypatch.setattr(files, "_user_folder", lambda: tmp_path / "users")
    return SimpleNamespace(
        named=tmp_path / "named", users=tmp_path / "users", temporary=tmp_path / f"gjk3d-{os.geteuid()}"
    )


def folder() -> Path:
    return files.folder.__wrapped__()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def set_owner(monkeypatch, user: int, *paths: Path) -> None:
    """Patch the system calls so that they report another owner of the paths."""
    inodes = {path.stat().st_ino for path in paths}

    def owned(status: os.stat_result) -> os.stat_result:
        return os.stat_result([*status[:4], user, *status[5:10]]) if status.st_ino in inodes else status

    real_stat, real_fstat = os.stat, os.fstat
    monkeypatch.setattr(os, "stat", lambda *args, **named: owned(real_stat(*args, **named)))
    monkeypatch.setattr(os, "fstat", lambda descriptor: owned(real_fstat(descriptor)))


def test_private_and_missing_folders_are_used(places, capfd):
    assert folder() == places.named
    places.named.mkdir(0o755)
    assert folder() == places.named
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("subfolder", ["", "bitcode", "groups", "keys"])
@pytest.mark.parametrize("open_mode", [0o777, 0o770, 0o707, 0o720])
def test_older_cache_writable_by_others_is_emptied_and_private(places, capfd, open_mode, subfolder):
    (places.named / "bitcode").mkdir(parents=True)
    for name in ("0" * 32 + ".o", "0" * 32 + ".json", "sources.json", "build.lock", "bitcode/" + "0" * 64):
        (places.named / name).write_text("planted")
    (places.named / "bitcode/elsewhere").symlink_to(Path(__file__).parent)
    (places.named / subfolder).mkdir(exist_ok=True)
    (places.named / subfolder).chmod(open_mode)
    assert folder() == places.named
    assert mode(places.named) == 0o700
    assert not list(places.named.iterdir())
    assert Path(__file__).exists()
    assert_names(capfd.readouterr().err, str(places.named), "emptied")
    assert folder() == places.named
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(("open_mode", "content"), [(0o777, "thesis.txt"), (0o1777, "sources.json")])
def test_shared_folder_is_refused_and_left_unchanged(places, capfd, open_mode, content):
    places.named.mkdir()
    places.named.chmod(open_mode)
    (places.named / content).write_text("content")
    assert folder() == places.users
    assert mode(places.named) == open_mode
    assert (places.named / content).read_text() == "content"
    assert_names(capfd.readouterr().err, str(places.named), f"{open_mode:o}", str(places.users), "GJK3D_CACHE_DIR")


def test_empty_folder_writable_by_others_is_refused_unchanged(places, capfd):
    places.named.mkdir()
    places.named.chmod(0o777)
    assert folder() == places.users
    assert mode(places.named) == 0o777
    assert_names(capfd.readouterr().err, str(places.named), "777", str(places.users))


@pytest.mark.parametrize("above", ["shared", "shared/mine"])
@pytest.mark.parametrize("open_mode", [0o777, 0o707])
def test_cache_that_others_can_replace_is_refused(places, capfd, monkeypatch, tmp_path, above, open_mode):
    cache = tmp_path / above / "named"
    cache.mkdir(0o700, parents=True)
    monkeypatch.setenv("GJK3D_CACHE_DIR", str(cache))
    (tmp_path / "shared").chmod(open_mode)
    assert folder() == places.users
    assert_names(capfd.readouterr().err, str(cache), f"{open_mode:o} of {tmp_path / 'shared'}", str(places.users))
    (tmp_path / "shared").chmod(open_mode | 0o1000)
    assert folder() == cache


@pytest.mark.parametrize("above", ["shared", "shared/mine"])
def test_cache_below_folder_of_another_user_is_refused(places, capfd, monkeypatch, tmp_path, above):
    cache = tmp_path / above / "named"
    cache.mkdir(0o700, parents=True)
    monkeypatch.setenv("GJK3D_CACHE_DIR", str(cache))
    (tmp_path / "shared").chmod(0o1777)  # the sticky bit lets only owners replace entries
    assert folder() == cache
    set_owner(monkeypatch, OTHER_USER, tmp_path / "shared")
    assert folder() == places.users
    assert_names(capfd.readouterr().err, str(cache), f"{tmp_path / 'shared'} belongs to user {OTHER_USER}")
    set_owner(monkeypatch, OTHER_USER, Path("/"))  # in a container, root can have another number
    assert folder() == cache


@pytest.mark.parametrize("inside", ["", "inside"])
def test_link_that_others_can_replace_is_refused(places, capfd, monkeypatch, tmp_path, inside):
    (tmp_path / "private" / inside).mkdir(0o700, parents=True)
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    link = tmp_path / "shared/link"
    link.symlink_to(tmp_path / "private")
    monkeypatch.setenv("GJK3D_CACHE_DIR", str(link / inside))
    assert folder() == places.users
    assert_names(capfd.readouterr().err, str(link / inside), f"777 of {tmp_path / 'shared'}")
    (tmp_path / "shared").chmod(0o1777)
    assert folder() == link / inside
    real = Path.lstat
    owned = os.stat_result([*real(link)[:4], OTHER_USER, *real(link)[5:10]])
    monkeypatch.setattr(Path, "lstat", lambda path: owned if path == link else real(path))
    assert folder() == places.users
    assert_names(capfd.readouterr().err, f"the link {link} belongs to user {OTHER_USER}")


def test_folder_of_another_user_is_refused(places, capfd, monkeypatch):
    for place in (places.named, places.users):
        place.mkdir(0o700)
    set_owner(monkeypatch, OTHER_USER, places.named)
    assert folder() == places.users
    assert_names(capfd.readouterr().err, str(places.named), str(OTHER_USER), str(places.users))
    set_owner(monkeypatch, OTHER_USER, places.users)
    assert folder() == places.temporary
    places.temporary.mkdir(0o700)
    set_owner(monkeypatch, OTHER_USER, places.temporary)
    assert not store._can_write(folder())
    assert {*files.refused} == {places.named, places.users, places.temporary}


def test_cache_with_subfolder_of_another_user_is_refused(places, monkeypatch):
    (places.named / "groups").mkdir(parents=True)
    monkeypatch.setattr(files.shutil, "rmtree", lambda path: os.listdir(path / "not permitted"))
    set_owner(monkeypatch, OTHER_USER, places.named / "groups")
    assert folder() == places.users


def test_folder_of_root_is_used(places, monkeypatch):
    places.named.mkdir(0o755)
    set_owner(monkeypatch, 0, places.named, *places.named.parents)
    assert folder() == places.named
    monkeypatch.setattr(os, "geteuid", lambda: OTHER_USER)
    assert folder() == places.named


def test_no_shared_folder_is_used_on_windows(monkeypatch, tmp_path):
    monkeypatch.undo()
    windows = SimpleNamespace(name="nt", environ={}, devnull=os.devnull)
    monkeypatch.setattr(files, "os", windows)
    assert files._user_folder() == Path.home() / "AppData/Local/gjk3d/Cache"
    windows.environ["LOCALAPPDATA"] = str(tmp_path)
    assert files._user_folder() == tmp_path / "gjk3d/Cache"
    monkeypatch.setattr(files, "_is_usable", lambda place: False)
    monkeypatch.setattr(files, "refused", {files._user_folder(): "refused."})
    assert folder() == files._NO_PLACE


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077, 0o277])
def test_new_files_and_folders_are_private(places, umask):
    before = os.umask(umask)
    try:
        store.write_built(places.named / "groups" / "x.o", b"x", {})
        with store.lock():
            pass
        with store.progress() as report:
            report(0.5)
            assert mode(files.folder() / "build.progress") == 0o600
    finally:
        os.umask(before)
    assert mode(places.named) == mode(places.named / "groups") == 0o700
    assert {mode(path) for path in (places.named / "groups").iterdir()} == {0o600}


@pytest.mark.parametrize("part", ["x.o", "x.json"])
def test_file_writable_by_others_is_refused_and_reported_once(places, capfd, part):
    path = places.named / "x.o"
    store.write_built(path, b"code", {"names": []})
    (places.named / part).chmod(0o620)
    assert store.read(path) is None
    assert_names(capfd.readouterr().err, str(places.named / part), "620", "built again")
    assert store.read(path) is None
    assert capfd.readouterr().err == ""
    assert [*files.refused] == [places.named / part]
    store.write_built(path, b"code", {"names": []})
    assert store.read(path).content == b"code"


def test_file_of_another_user_is_refused_and_of_root_is_read(places, monkeypatch):
    path = places.named / "x.o"
    store.write_built(path, b"code", {})
    set_owner(monkeypatch, 0, path)
    assert store.read(path).content == b"code"
    set_owner(monkeypatch, OTHER_USER, path)
    assert store.read(path) is None
    assert str(OTHER_USER) in files.refused[path]


def test_shipped_file_is_read_with_any_mode(places, monkeypatch):
    path = places.named / "x.o"
    store.write_built(path, b"code", {})
    path.chmod(0o666)
    monkeypatch.setattr(store, "SHIPPED", places.named)
    assert store.read(path).content == b"code"


@pytest.mark.parametrize("name", ["names", "sizes", "check"])
def test_object_with_damaged_description_is_not_read(places, name):
    path = places.named / "x.o"
    store.write_built(path, b"code", {"names": ["gjk3d.poses:check_rows"], "sizes": [4]})
    description = json.loads(path.with_suffix(".json").read_text())
    del description[name]
    nested = "[" * 100_000
    for text in (json.dumps(description), json.dumps({**description, name: None}), "[]", "3", "", "\xff", nested):
        path.with_suffix(".json").write_text(text)
        assert store.read(path) is None


def test_object_without_entry_names_is_not_found(places, monkeypatch):
    path = places.named / store.object_name(store.machine(), store.cpu_level())
    monkeypatch.setattr(store, "folder", lambda: places.named)
    store.write_built(path, b"code", {"names": [], "sizes": [4]})
    assert store.find().path == path
    store.write_built(path, b"code", {"sizes": [4]})
    assert store.find() is None


class Payload:
    def __reduce__(self):
        return os.mkdir, ("planted",)


def test_pickle_in_cache_is_not_loaded(places, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    path = places.named / "bitcode" / ("0" * 64 + ".bc")
    files.write_file(path, pickle.dumps(Payload()))
    files.write_file(path.with_suffix(".json"), pickle.dumps(Payload()))
    assert store.read(path) is None
    assert not Path("planted").exists()
    for module in Path(store.__file__).parent.rglob("*.py"):
        assert "import pickle" not in module.read_text()


@pytest.fixture
def guard(monkeypatch):
    """Return the guard of numba's cache with an empty record of folders."""
    monkeypatch.setattr(decorators, "_folders", {})
    return decorators._guard


def test_numba_cache_writable_by_others_is_emptied(places, guard):
    guard(str(places.named))
    index = places.named / "x.nbi"
    index.write_text("kept")
    guard(str(places.named))
    assert index.exists()
    places.named.chmod(0o770)
    guard.__globals__["_folders"].clear()
    guard(str(places.named))
    assert not index.exists()
    assert mode(places.named) == 0o700


def test_numba_cache_of_another_user_is_refused(places, guard, monkeypatch):
    def chmod(path, mode, **named):
        raise PermissionError(path)

    places.named.mkdir(0o700)
    set_owner(monkeypatch, OTHER_USER, places.named)
    monkeypatch.setattr(os, "chmod", chmod)
    for _ in range(2):
        with pytest.raises(PermissionError):
            guard(str(places.named))


def test_describe_lists_refused_folders(places):
    places.named.mkdir()
    (places.named / "shared.txt").touch()
    places.named.chmod(0o777)
    described = store.describe()
    assert described["folder"] == str(places.users)
    (refusal,) = described["refused"]
    assert_names(refusal, str(places.named), "777")


def test_bitcode_round_trips_through_a_file(places):
    code = builder.Bitcode([b"bitcode"], "wrappers", ["gjk3d.poses:check_rows"], ["symbol"])
    path = places.named / "x.bitcode"
    assert builder.read_group(path) is None
    builder.write_group(path, code)
    assert builder.read_group(path) == code
