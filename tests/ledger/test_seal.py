"""Seals: what they say, who signed them, and against what they hold."""

from __future__ import annotations

import builtins
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

from recorder.errors import BadInput
from recorder.ledger import seal, transfer
from recorder.ledger.seal import Seal
from recorder.store import Store, open_store
from tests.ledger import tampering
from tests.store.made import append, behind, erase, event

Keys = tuple[bytes, bytes]
"""A private and a public key, in PEM."""
_PEM = serialization.Encoding.PEM
_PKCS8 = serialization.PrivateFormat.PKCS8
_SPKI = serialization.PublicFormat.SubjectPublicKeyInfo


def pem(key: Any, encryption: Any = None) -> Keys:
    private = key.private_bytes(_PEM, _PKCS8, encryption or serialization.NoEncryption())
    return private, key.public_key().public_bytes(_PEM, _SPKI)


def keys_of_cryptography() -> Keys:
    return pem(ed25519.Ed25519PrivateKey.generate())


def keys_of_openssl() -> Keys:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl")
    made = subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519"], capture_output=True)
    if made.returncode:
        pytest.skip("this openssl knows no Ed25519")
    public = subprocess.run(["openssl", "pkey", "-pubout"], input=made.stdout, capture_output=True, check=True)
    return made.stdout, public.stdout


@pytest.fixture(params=[keys_of_cryptography, keys_of_openssl], ids=["cryptography", "openssl"])
def keys(request: pytest.FixtureRequest) -> Keys:
    made: Callable[[], Keys] = request.param
    return made()


@pytest.fixture
def filled(tmp_path: Path) -> Any:
    with open_store(tmp_path / "log.db") as store:
        tampering.fill(store, "a")
        tampering.fill(store, "b ü", erased=True)
        append(store, "empty", [])
        yield store


def read_again(made: Seal) -> Seal:
    return seal.read(seal.write(made).encode())


# What it says


def test_a_seal_says_where_all_streams_stand(filled: Store) -> None:
    made = seal.make(filled)
    assert read_again(made) == made
    assert made.signature is None
    assert [(each.name, each.last_seq, each.erasures) for each in made.streams] == [
        ("a", 6, 0),
        ("b ü", 6, 1),
        ("empty", 0, 0),
    ]
    first = filled.head("a")
    assert (made.streams[0].uuid, made.streams[0].head_hash) == (first.uuid.hex(), first.head_hash.hex())
    assert made.streams[1].erasures_hash == filled.erasures(filled.head("b ü"))[0].hash.hex()
    assert seal.broken(filled, made) == []


def test_a_seal_is_a_line_a_stream_of_plain_ascii(filled: Store) -> None:
    text = seal.write(seal.make(filled))
    assert text.isascii()
    assert len(text.splitlines()) == 3 + 2
    assert json.loads(text)["format"] == "recorder-seal/1"


def test_of_no_streams_there_is_a_seal_too(tmp_path: Path) -> None:
    with open_store(tmp_path / "log.db") as store:
        made = seal.make(store)
        assert read_again(made).streams == []
        assert seal.broken(store, made) == []
        # What came later was not sealed.
        tampering.fill(store, "a")
        assert seal.broken(store, made) == []


def test_the_digest_is_what_its_description_says(filled: Store) -> None:
    from hashlib import sha256

    import msgspec

    made = seal.make(filled)
    streams = [
        [each.uuid, each.name, each.last_seq, each.head_hash, each.erasures, each.erasures_hash]
        for each in made.streams
    ]
    packed = msgspec.msgpack.encode(["recorder-seal/1", made.made_at, streams])
    assert made.digest == sha256(packed).hexdigest()


# Signatures


def test_a_signature_proves_whose_seal_it_is(filled: Store, keys: Keys) -> None:
    private, public = keys
    made = read_again(seal.make(filled, private))
    assert made.signature is not None
    raw = serialization.load_pem_public_key(public)
    assert isinstance(raw, ed25519.Ed25519PublicKey)
    assert seal.verify_signature(made) == seal.verify_signature(made, public) == raw.public_bytes_raw().hex()
    raw.verify(bytes.fromhex(made.signature.signature), bytes.fromhex(made.digest))


def test_another_program_can_check_a_signature(filled: Store, tmp_path: Path) -> None:
    private, public = keys_of_openssl()
    made = seal.make(filled, private)
    assert made.signature is not None
    (tmp_path / "key.pem").write_bytes(public)
    (tmp_path / "digest").write_bytes(bytes.fromhex(made.digest))
    (tmp_path / "signature").write_bytes(bytes.fromhex(made.signature.signature))
    given = ["-pubin", "-inkey", "key.pem", "-rawin", "-in", "digest", "-sigfile", "signature"]
    done = subprocess.run(["openssl", "pkeyutl", "-verify", *given], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_another_key_did_not_sign_it(filled: Store) -> None:
    made = seal.make(filled, keys_of_cryptography()[0])
    other = keys_of_cryptography()[1]
    with pytest.raises(BadInput, match="the seal was signed by another key"):
        seal.verify_signature(made, other)


def test_an_unsigned_seal_proves_nobody(filled: Store) -> None:
    with pytest.raises(BadInput, match="the seal is not signed"):
        seal.verify_signature(seal.make(filled), keys_of_cryptography()[1])


def test_the_signature_of_another_seal_or_key_is_wrong(filled: Store) -> None:
    private, public = keys_of_cryptography()
    made, other = seal.make(filled, private), seal.make(filled, keys_of_cryptography()[0])
    append(filled, "a", [event(7)])
    later = seal.make(filled, private)
    assert made.signature is not None
    assert other.signature is not None
    assert later.signature is not None
    for wrong in (other.signature.signature, later.signature.signature, "00" * 64, "00", "no hex"):
        text = seal.write(made).replace(made.signature.signature, wrong)
        with pytest.raises(BadInput, match="the seal's signature is wrong"):
            seal.verify_signature(seal.read(text.encode()), public)
    # Signed again by somebody else, whose key is put into the seal.
    text = seal.write(made).replace(made.signature.signature, other.signature.signature)
    forged = seal.read(text.replace(made.signature.public_key, other.signature.public_key).encode())
    with pytest.raises(BadInput, match=r"the seal was signed by another key|the seal's signature is wrong"):
        seal.verify_signature(forged, public)


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (lambda: pem(rsa.generate_private_key(65537, 2048))[0], "the key is not Ed25519"),
        (
            lambda: pem(ed25519.Ed25519PrivateKey.generate(), serialization.BestAvailableEncryption(b"secret"))[0],
            "the key has a password: give one without",
        ),
        (lambda: keys_of_cryptography()[1], "the key is no private key in PEM"),
        (lambda: b"-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----\n", "the key is no private key"),
        (lambda: b"", "the key is no private key in PEM"),
        (lambda: b"\xff\x00", "the key is no private key in PEM"),
    ],
    ids=["RSA", "with a password", "a public key", "nonsense", "nothing", "bytes"],
)
def test_a_key_that_cannot_sign_is_refused(filled: Store, key: Callable[[], bytes], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        seal.make(filled, key())


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (lambda: pem(rsa.generate_private_key(65537, 2048))[1], "the public key is not Ed25519"),
        (lambda: keys_of_cryptography()[0], "the public key is none in PEM"),
        (lambda: b"", "the public key is none in PEM"),
    ],
    ids=["RSA", "a private key", "nothing"],
)
def test_a_key_that_cannot_check_is_refused(filled: Store, key: Callable[[], bytes], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        seal.verify_signature(seal.make(filled, keys_of_cryptography()[0]), key())


def test_without_the_package_a_line_says_what_is_missing(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    private, public = keys_of_cryptography()
    made = seal.make(filled, private)
    real = builtins.__import__

    def blocked(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("cryptography"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", blocked)
    needs = r"^signatures need the package cryptography: pip install 'agent-stream-recorder\[sign\]'$"
    for does in (lambda: seal.make(filled, private), lambda: seal.verify_signature(made, public)):
        with pytest.raises(BadInput, match=needs):
            does()
    assert seal.broken(filled, read_again(seal.make(filled))) == []


# What was changed in it


def _fields(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value that holds no other."""
    if isinstance(value, dict):
        return [place for name, each in value.items() for place in _fields(each, (*path, name))]
    if isinstance(value, list):
        return [place for number, each in enumerate(value) for place in _fields(each, (*path, number))]
    return [path]


@pytest.mark.parametrize("new", ["other", 7, -1, 10**30, None, [], {}, True, 1.5, "\ud800", ""], ids=repr)
def test_a_changed_field_is_found(filled: Store, new: object) -> None:
    private, public = keys_of_cryptography()
    whole = json.loads(seal.write(seal.make(filled, private)))
    places = _fields(whole)
    assert len(places) == 3 + 3 + 3 * 6
    for path in places:
        changed = json.loads(json.dumps(whole))
        place = changed
        for step in path[:-1]:
            place = place[step]
        if place[path[-1]] == new:
            continue
        place[path[-1]] = new
        with pytest.raises(BadInput):
            seal.verify_signature(seal.read(json.dumps(changed).encode()), public)


def test_a_stream_that_is_removed_added_or_moved_is_found(filled: Store) -> None:
    whole = json.loads(seal.write(seal.make(filled)))
    first, *others = whole["streams"]
    for streams in (others, [first, *whole["streams"]], whole["streams"][::-1], []):
        with pytest.raises(BadInput, match="the seal was changed after it was made"):
            seal.read(json.dumps({**whole, "streams": streams}).encode())


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"{}", b"null", b"\xff", b"\0", b'{"format": "recorder-seal/1"}'])
def test_what_is_no_seal_is_refused(text: bytes) -> None:
    with pytest.raises(BadInput, match="it is no seal: "):
        seal.read(text)


def test_a_seal_of_a_newer_program_is_refused(filled: Store) -> None:
    text = seal.write(seal.make(filled)).replace("recorder-seal/1", "recorder-seal/2")
    with pytest.raises(BadInput, match="it is a seal of the format recorder-seal/2, which this program does not know"):
        seal.read(text.encode())


# Against what it holds


def test_a_database_that_has_grown_since_holds(store: Store) -> None:
    for name in ("a", "b"):
        tampering.fill(store, name)
    append(store, "empty", [])
    made = seal.make(store)
    append(store, "a", [event(7)])
    append(store, "empty", [event(1)])
    append(store, "new", [event(1)])
    erase(store, "b", 1, 6)
    with store.transaction() as transaction:
        transaction.rename(store.head("b"), "renamed")
    assert seal.broken(store, made) == []


def test_a_copy_holds_too_and_what_is_not_copied_yet_shows(store: Store, tmp_path: Path) -> None:
    tampering.fill(store, "a", erased=True)
    tampering.fill(store, "b")
    made = seal.make(store)
    with open_store(tmp_path / "copy.db") as copy:
        transfer.copy(store, store.head("a"), copy)
        assert [(each.stream, each.problem) for each in seal.broken(copy, made)] == [("b", "the stream is gone")]
        transfer.copy(store, store.head("b"), copy)
        assert seal.broken(copy, made) == []


def test_another_database_does_not_hold(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.db") as store, open_store(tmp_path / "b.db") as other:
        for each in (store, other):
            tampering.fill(each, "a")
        broken = seal.broken(other, seal.make(store))
        assert [(each.stream, each.problem) for each in broken] == [("a", "the stream is gone")]


def test_an_older_copy_shows_what_was_erased_since(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.db") as store, open_store(tmp_path / "b.db") as older:
        tampering.fill(store, "a")
        transfer.copy(store, store.head("a"), older)
        erase(store, "a", 2, 3)
        (broken,) = seal.broken(older, seal.make(store))
        assert broken.problem == "records of erasures are gone: 1 were sealed, 0 are there"
        erase(older, "a", 2, 3)
        (broken,) = seal.broken(older, seal.make(store))
        assert broken.problem == "its erasure 1 is another one than was sealed"


# What a seal tells besides


def test_a_sealed_event_that_is_not_there_is_named(store: Store, database: str) -> None:
    """The head still says that there is one."""
    for name in ("a", "b"):
        tampering.fill(store, name)
    sealed = seal.make(store)
    with behind(database) as other:
        other.unguard("log_events")
        tampering.apply(other, store, "a", f"DELETE FROM log_events {tampering.LAST}")
    (broken,) = seal.broken(store, sealed)
    assert (broken.stream, broken.seq) == ("a", 6)
    assert broken.problem == "event 6, which was sealed, is not there, or cannot be read"


def test_names_and_erasures_since_the_seal_are_told(store: Store) -> None:
    for name in ("a", "b", "c"):
        tampering.fill(store, name, erased=name == "c")
    sealed = seal.make(store)
    assert seal.changes(store, sealed) == []
    with store.transaction() as transaction:
        a, b = store.head("a"), store.head("b")
        transaction.rename(a, "other")
        transaction.rename(b, "a")
    erase(store, "c", 1, 1)
    assert seal.broken(store, sealed) == []
    assert seal.changes(store, sealed) == [
        "other: was sealed under the name 'a'",
        "a: was sealed under the name 'b'",
        "c: has 2 erasures, and had 1 when it was sealed",
    ]
