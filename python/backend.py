# SPDX-License-Identifier: Apache-2.0
"""Builds a wheel of trundle by CMake, for pip (PEP 517), and by itself:

    python3 python/backend.py FOLDER

The extension has the library in it and keeps to the stable ABI: one wheel is for CPython 3.11 and all
later ones. TRUNDLE_BUILD names a build folder that is there already; else build/python/wheel is made.
"""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
TAG = f"cp311-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(trundle VERSION ([\d.]+)", text)[1]


def metadata():
    return ("Metadata-Version: 2.1\nName: trundle\n" f"Version: {version()}\n"
            "Summary: The equations of motion of things that roll, slide, fold and flex while they "
            "move about\nLicense: Apache-2.0\nRequires-Python: >=3.11\n"
            "Provides-Extra: arrays\nRequires-Dist: numpy; extra == 'arrays'\n")


def build():
    """The folder of the built package."""
    folder = pathlib.Path(os.environ.get("TRUNDLE_BUILD") or ROOT / "build/python-wheel").resolve()
    if not (folder / "CMakeCache.txt").exists():
        page = ROOT / "build/page.html"
        subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-DBUILD_TESTING=OFF", "-DTR_SHARED=OFF",
                        f"-DTR_PYTHON_INCLUDE={sysconfig.get_path('include')}",
                        f"-DTR_PAGE={page if page.exists() else ''}"], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "trundle_python",
                    f"-j{os.cpu_count() or 1}"], check=True)
    return folder / "python/trundle"


def write_wheel(path, files):
    """A zip archive with a list of what is in it; the same files make the same bytes."""
    info = f"trundle-{version()}.dist-info"
    files = {**files, f"{info}/METADATA": metadata().encode(),
             f"{info}/LICENSE": (ROOT / "LICENSE").read_bytes(),
             f"{info}/WHEEL": ("Wheel-Version: 1.0\nGenerator: trundle\nRoot-Is-Purelib: false\n"
                               f"Tag: {TAG}\n").encode()}
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            write_file(archive, name, files[name])
            digest = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=")
            record.append(f"{name},sha256={digest.decode()},{len(files[name])}\n")
        write_file(archive, f"{info}/RECORD",
                   ("".join(record) + f"{info}/RECORD,,\n").encode())


def write_file(archive, name, content):
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content)


def package_files(folder):
    return {f"trundle/{path.name}": path.read_bytes() for path in sorted(folder.iterdir())
            if path.suffix in (".py", ".pyi", ".so") or path.name == "py.typed"}


# ---- what pip calls ------------------------------------------------------------------------


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"trundle-{version()}-{TAG}.whl"
    files = package_files(build())
    extension = "trundle/_trundle.abi3.so"
    files[extension] = stripped(files[extension], wheel_directory)
    write_wheel(os.path.join(wheel_directory, name), files)
    return name


def stripped(extension, folder):
    """Without what only debuggers read, where there is strip."""
    path = pathlib.Path(folder, "_trundle.tmp.so")
    path.write_bytes(extension)
    try:
        subprocess.run(["strip", "--strip-debug", path], check=True)
        return path.read_bytes()
    except (OSError, subprocess.CalledProcessError):
        return extension
    finally:
        path.unlink()


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    info = pathlib.Path(metadata_directory, f"trundle-{version()}.dist-info")
    info.mkdir()
    (info / "METADATA").write_text(metadata(), encoding="utf-8")
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: trundle\nRoot-Is-Purelib: false\n"
                                f"Tag: {TAG}\n", encoding="utf-8")
    return info.name


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("there is no source archive: clone the repository")


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    os.makedirs(folder, exist_ok=True)
    print(os.path.join(folder, build_wheel(folder)))


if __name__ == "__main__":
    main()
