"""The crates that are linked into the program `dsq` or the Python package."""

import json
import subprocess
import tomllib


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def metadata(triple=None):
    """Cargo's metadata of all crates for a platform, by default this one."""
    host = next(line.split()[1] for line in run("rustc", "-vV").splitlines() if line.startswith("host:"))
    return json.loads(run("cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={triple or host}"))


def linked(data, name):
    """The ids of the crates that a workspace crate needs to run, itself included, without build and test dependencies."""
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
    """The SHA-256 of the crates that come from a registry, by name and version."""
    with open("Cargo.lock", "rb") as file:
        packages = tomllib.load(file)["package"]
    return {(package["name"], package["version"]): package.get("checksum") for package in packages}
