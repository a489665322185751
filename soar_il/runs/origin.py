"""What a run was asked to do and made from, and whether that is still what lies in its folder.

``provenance.json`` is sealed, and has the hashes of ``config.json`` and of the demonstrations.
"""

import dataclasses
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from soar_il import files, provenance
from soar_il.configure import Config, from_mapping
from soar_il.demos import Demos
from soar_il.errors import StorageError
from soar_il.files import Fields
from soar_il.seal import seal, unsealed

Say = Callable[[str], None]
FORMAT = 2
CONFIG, PROVENANCE, DEMOS = "config.json", "provenance.json", "demos.demos"
MANIFEST = f"{DEMOS}/manifest.json"  # which has the hash of the data
CHANGED = "was changed since the run began: its SHA-256 is not the one noted"
KNOWN = {"format", "files", "drift", *provenance.about()}
WATCHED = ("python", "machine", "threads", "versions", "code")


def keep(folder: Path, cfg: Config, demos: Demos | None) -> None:
    """Write all that a run begins with; ``config.json`` last, for it makes the folder a run."""
    config = (json.dumps(dataclasses.asdict(cfg), indent=1) + "\n").encode()
    hashes = {CONFIG: hashlib.sha256(config).hexdigest()}
    if demos is not None:
        demos.save(folder / DEMOS, overwrite=True)
        hashes[MANIFEST] = files.sha256(folder / MANIFEST)
    about = {**provenance.about(), "format": FORMAT, "files": hashes}
    files.write_atomically(folder / PROVENANCE, seal(about, "sha256", indent=1))
    files.write_atomically(folder / CONFIG, config)


def read_config(folder: Path, verify: bool = True) -> Config:
    """What the run was asked to do; with ``verify``, StorageError if the file was changed since."""
    return from_mapping(read_settings(folder, verify), str(folder / CONFIG))


def read_settings(folder: Path, verify: bool = True) -> Fields:
    """The settings as names and values; those of other versions of soar-il too."""
    path = folder / CONFIG
    if not path.exists():
        raise StorageError(
            f"is not a run (there is no {CONFIG})", str(folder), "give a run's folder"
        )
    known = verify and (folder / PROVENANCE).exists()
    noted = read_provenance(folder).get("files", {}) if known else {}
    if CONFIG in noted and not _unchanged(path, noted[CONFIG]):
        do = "put it back as it was, or accept it with: soar resume --allow-drift"
        raise StorageError(CHANGED, str(path), do)
    return files.read_json(path)


def _unchanged(path: Path, digest: str) -> bool:
    return hashlib.sha256(files.read(path)).hexdigest() == digest


def read_provenance(folder: Path) -> Fields:
    """What ``keep`` wrote there, or an older version without a seal."""
    path = folder / PROVENANCE
    said = unsealed(path)
    # An earlier one has neither; any other name is that of a damaged seal.
    old = said.get("format", 1) == 1 and "files" not in said
    noted, drift = said.get("files", {}), said.get("drift", [])
    typed = isinstance(noted, dict) and all(isinstance(x, str) for x in noted.values())
    typed = typed and isinstance(drift, list)
    if said.keys() - KNOWN or not (typed and (old or said.get("format") == FORMAT)):
        raise StorageError("is damaged, or of a newer soar-il", str(path), files.DAMAGED)
    return said


def check(folder: Path, allow: bool, say: Say) -> None:
    """Other settings, demonstrations, code, versions or threads give other bits: refuse, or say.

    What is allowed is noted in ``provenance.json``.
    """
    then, now = read_provenance(folder), provenance.about()
    if "files" not in then:
        say(f"{folder}: of an older soar-il, which kept no hashes: changes by hand are not seen")
    noted = dict(then.get("files", {}))
    edited = [name for name, digest in noted.items() if not _unchanged(folder / name, digest)]
    if edited and not allow:
        do = "put it back as it was, or resume with --allow-drift"
        raise StorageError(CHANGED, str(folder / edited[0]), do)
    drift = [name for name in WATCHED if name in then and then[name] != now[name]]
    changed = [f"{name} was {then[name]}, is {now[name]}" for name in drift]
    if changed and not allow:
        raise StorageError(
            "cannot be resumed exactly: " + "; ".join(changed),
            str(folder),
            "restore what changed, or resume with --allow-drift",
        )
    changed += [f"{name} {CHANGED}" for name in edited]
    for change in changed:
        say(f"resuming although {change}")
    if changed and "files" in then:
        noted |= {name: files.sha256(folder / name) for name in edited}
        about = {**then, "files": noted, "drift": [*then.get("drift", []), *changed]}
        files.write_atomically(folder / PROVENANCE, seal(about, "sha256", indent=1))
