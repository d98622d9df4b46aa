"""The crates that are linked into the program `dsq` or the Python package."""

import json
import subprocess
import tomllib


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def metadata():
    """What cargo knows of all crates on this system."""
    host = next(line.split()[1] for line in run("rustc", "-vV").splitlines() if line.startswith("host:"))
    return json.loads(run("cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={host}"))


def linked(data, name):
    """The ids of the crates that one of ours needs to run, itself included, without what only builds or tests it."""
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    todo = [package["id"] for package in data["packages"] if package["name"] == name]
    found = set()
    while todo:
        node = todo.pop()
        if node in found:
            continue
        found.add(node)
        todo += dependencies(nodes[node])
    return found


def dependencies(node):
    """The ids of the crates that a crate needs to run."""
    needed = [dep for dep in node["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
    return sorted({dep["pkg"] for dep in needed})


def lock_checksums():
    """By name and version, the SHA-256 of the crates that come from a registry."""
    with open("Cargo.lock", "rb") as file:
        packages = tomllib.load(file)["package"]
    return {(package["name"], package["version"]): package.get("checksum") for package in packages}
