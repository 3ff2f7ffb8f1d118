"""A seal: a statement of where all streams of a database stood, kept elsewhere, against which they are verified.

The chain of a stream proves that nothing in it was changed, but not that its end, or all of it, is still there, nor
that it was not written anew. Who holds a seal can tell: a sealed stream must still have, at the sealed event, the
sealed hash.

A seal is one JSON object. Its `digest` is SHA-256 over the MessagePack of format, time and streams; a signature is
Ed25519 (RFC 8032) over that digest.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from recorder.errors import BadInput, Corrupt
from recorder.events import clock
from recorder.events.chain import GENESIS
from recorder.store import Store, StreamHead

FORMAT = "recorder-seal/1"
ALGORITHM = "ed25519"


class SealedStream(Struct, frozen=True, kw_only=True):
    """Where one stream stood. Hashes and UUID are hexadecimal."""

    uuid: str
    name: str
    last_seq: int
    head_hash: str
    erasures: int = 0
    erasures_hash: str = GENESIS.hex()


class Signature(Struct, frozen=True, kw_only=True):
    """Who says so: hexadecimal public key (32 bytes) and signature (64 bytes)."""

    public_key: str
    signature: str
    algorithm: str = ALGORITHM


class Seal(Struct, frozen=True, kw_only=True):
    """All streams at one moment (ISO-8601)."""

    made_at: str
    streams: list[SealedStream]
    digest: str
    format: str = FORMAT
    signature: Signature | None = None


class Broken(Struct, frozen=True, kw_only=True):
    """A sealed stream that is not what it was."""

    stream: str
    problem: str
    seq: int | None = None


def make(store: Store, private_key: bytes | None = None) -> Seal:
    """Seals all streams as they stand. `private_key`: an Ed25519 key in PEM. Raises `BadInput`."""
    made_at = clock.to_text(clock.now())
    streams = [_sealed(store, head) for head in store.streams()]
    digest = _digest(made_at, streams)
    signature = None if private_key is None else _sign(private_key, digest)
    return Seal(made_at=made_at, streams=streams, digest=digest.hex(), signature=signature)


def write(seal: Seal) -> str:
    """The seal as JSON text, a stream a line."""
    plain = msgspec.to_builtins(seal)
    head = {name: plain[name] for name in ("format", "made_at", "digest", "signature")}
    lines = ",\n".join(f"  {json.dumps(stream)}" for stream in plain["streams"])
    return f'{json.dumps(head)[:-1]}, "streams": [\n{lines}\n]}}\n'


def read(text: bytes) -> Seal:
    """A seal as it was written, its digest proved. Raises `BadInput`."""
    try:
        seal = msgspec.json.decode(text, type=Seal)
    except msgspec.DecodeError as error:
        raise BadInput(f"it is no seal: {error}") from None
    if seal.format != FORMAT:
        raise BadInput(f"it is a seal of the format {seal.format}, which this program does not know")
    try:
        digest = _digest(seal.made_at, seal.streams)
    except OverflowError:
        digest = b""
    if seal.digest != digest.hex():
        raise BadInput("the seal was changed after it was made: its digest is not that of its streams")
    return seal


def verify_signature(seal: Seal, public_key: bytes | None = None) -> str:
    """Proves the seal's signature; gives the public key that made it, in hexadecimal.

    `public_key`, in PEM, is the one that must have made it. Raises `BadInput` where there is no signature, a wrong
    one, or another's.
    """
    if seal.signature is None:
        raise BadInput("the seal is not signed")
    if seal.signature.algorithm != ALGORITHM:
        raise BadInput(f"the seal is signed by {seal.signature.algorithm}, which this program does not know")
    if public_key is not None and _raw_public_key(public_key).hex() != seal.signature.public_key:
        raise BadInput(f"the seal was signed by another key: {seal.signature.public_key}")
    _verify(seal.signature, bytes.fromhex(seal.digest))
    return seal.signature.public_key


def broken(store: Store, seal: Seal) -> list[Broken]:
    """The sealed streams that are gone, have lost their end, or have another past; the rest is as it was."""
    found = {head.uuid.hex(): head for head in store.streams()}
    return [
        Broken(stream=sealed.name, problem=problem, seq=seq)
        for sealed in seal.streams
        for problem, seq in _problems(store, found.get(sealed.uuid), sealed)
    ]


def changes(store: Store, seal: Seal) -> list[str]:
    """What became of sealed streams that may become of any, and no hash shows: other names, and new erasures."""
    found = {head.uuid.hex(): head for head in store.streams()}
    lines = []
    for sealed in seal.streams:
        head = found.get(sealed.uuid)
        if head is None:
            continue
        if head.name != sealed.name:
            lines.append(f"{head.name}: was sealed under the name {sealed.name!r}")
        if (erasures := store.erasure_count(head)) > sealed.erasures:
            lines.append(f"{head.name}: has {erasures} erasures, and had {sealed.erasures} when it was sealed")
    return lines


def _problems(store: Store, head: StreamHead | None, sealed: SealedStream) -> list[tuple[str, int | None]]:
    if head is None:
        return [("the stream is gone", None)]
    if head.last_seq < sealed.last_seq:
        return [
            (f"its end is gone: it was sealed with {sealed.last_seq} events and has {head.last_seq}", head.last_seq)
        ]
    if sealed.last_seq:
        try:
            event = next(store.events(head, sealed.last_seq, sealed.last_seq, as_stored=True))
        except Corrupt:
            return [(f"event {sealed.last_seq}, which was sealed, is not there, or cannot be read", sealed.last_seq)]
        if event.hash.hex() != sealed.head_hash:
            return [(f"its past is another: event {sealed.last_seq} has not the hash that was sealed", sealed.last_seq)]
    try:
        erasures = store.erasures(head)
    except Corrupt:
        return [("its records of erasures cannot be read", None)]
    if len(erasures) < sealed.erasures:
        return [(f"records of erasures are gone: {sealed.erasures} were sealed, {len(erasures)} are there", None)]
    if sealed.erasures and erasures[sealed.erasures - 1].hash.hex() != sealed.erasures_hash:
        return [(f"its erasure {sealed.erasures} is another one than was sealed", None)]
    return []


def _sealed(store: Store, head: StreamHead) -> SealedStream:
    erasures = store.erasures(head)
    return SealedStream(
        uuid=head.uuid.hex(),
        name=head.name,
        last_seq=head.last_seq,
        head_hash=head.head_hash.hex(),
        erasures=len(erasures),
        erasures_hash=(erasures[-1].hash if erasures else GENESIS).hex(),
    )


def _digest(made_at: str, streams: list[SealedStream]) -> bytes:
    fields = [[getattr(stream, name) for name in SealedStream.__struct_fields__] for stream in streams]
    return sha256(msgspec.msgpack.encode([FORMAT, made_at, fields])).digest()


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise BadInput("signatures need the package cryptography: pip install 'agent-stream-recorder[sign]'") from None
    return ed25519


def _sign(private_key: bytes, digest: bytes) -> Signature:
    ed25519 = _ed25519()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(private_key, password=None)
    except TypeError:
        raise BadInput("the key has a password: give one without (openssl pkey takes it off)") from None
    except (ValueError, UnsupportedAlgorithm):
        raise BadInput("the key is no private key in PEM") from None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise BadInput("the key is not Ed25519: openssl genpkey -algorithm ed25519 makes one")
    return Signature(public_key=key.public_key().public_bytes_raw().hex(), signature=key.sign(digest).hex())


def _raw_public_key(public_key: bytes) -> bytes:
    ed25519 = _ed25519()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(public_key)
    except (ValueError, UnsupportedAlgorithm):
        raise BadInput("the public key is none in PEM: openssl pkey -pubout makes one of a private key") from None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise BadInput("the public key is not Ed25519")
    return bytes(key.public_bytes_raw())


def _verify(signature: Signature, digest: bytes) -> None:
    ed25519 = _ed25519()
    from cryptography.exceptions import InvalidSignature

    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature.public_key))
        key.verify(bytes.fromhex(signature.signature), digest)
    except (ValueError, InvalidSignature):
        raise BadInput("the seal's signature is wrong: somebody else made it, or changed it") from None
