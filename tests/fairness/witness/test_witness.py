"""A real witness process over HTTP: what it cosigns, what it refuses with which status, and what it never forgets."""

from __future__ import annotations

import json
import random
import stat
import threading
import time
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import httpx
import pytest

from apps.fairness.protocol import notes
from apps.fairness.protocol.trust import trust_read
from apps.fairness.witness.memory import REFUSED_MAX, Held, Memory, Refused
from tests.fairness.witness.process import ROOT, Story, WitnessProcess, ask, body, run


@pytest.fixture
def story() -> Story:
    return Story().grow(20)


@pytest.fixture
def witness(tmp_path: Path, story: Story) -> Iterator[WitnessProcess]:
    """Return a witness that serves and has cosigned nothing yet."""
    made = WitnessProcess(tmp_path, [story.trust_file(tmp_path)])
    with made.serving():
        yield made


def cosigned(witness: WitnessProcess, note: str, answer: httpx.Response) -> notes.Cosignature:
    """Return the cosignature that a witness answered with."""
    assert answer.status_code == 200, answer.text
    [found] = notes.cosignatures(notes.checkpoint_read(note + answer.text), [witness.key])
    return found


class TestCosigns:
    def test_a_first_checkpoint_and_those_that_extend_it(self, witness: WitnessProcess, story: Story) -> None:
        before_s = int(time.time())
        for old, size in ((0, 1), (1, 7), (7, 8), (8, 20)):
            found = cosigned(witness, story.note(size), ask(witness.url, story.request(old, size)))
            assert before_s <= found.time_s <= int(time.time())
        [held] = witness.memory.logs()
        assert (held.origin, held.size, held.note) == (story.origin, 20, story.note(20))

    def test_the_same_checkpoint_again_with_a_later_time(self, witness: WitnessProcess, story: Story) -> None:
        first = cosigned(witness, story.note(7), ask(witness.url, story.request(0, 7)))
        again = cosigned(witness, story.note(7), ask(witness.url, story.request(7, 7)))
        assert again.time_s >= first.time_s

    def test_an_empty_tree(self, witness: WitnessProcess, story: Story) -> None:
        cosigned(witness, story.note(0), ask(witness.url, story.request(0, 0)))
        cosigned(witness, story.note(5), ask(witness.url, story.request(0, 5)))

    def test_several_logs_apart_from_each_other(self, tmp_path: Path, story: Story) -> None:
        other = Story("log.example/two").grow(9, "other")
        made = WitnessProcess(tmp_path, [story.trust_file(tmp_path), other.trust_file(tmp_path)])
        with made.serving() as url:
            cosigned(made, story.note(20), ask(url, story.request(0, 20)))
            cosigned(made, other.note(4), ask(url, other.request(0, 4)))
            cosigned(made, other.note(9), ask(url, other.request(4, 9)))
        assert [(row.origin, row.size) for row in made.memory.logs()] == [
            ("log.example/one", 20),
            ("log.example/two", 9),
        ]

    def test_with_either_key_of_a_log_that_hands_over(self, tmp_path: Path, story: Story) -> None:
        after = Story(secret=bytes(range(32))).grow(20)
        made = WitnessProcess(tmp_path, [story.trust_file(tmp_path), after.trust_file(tmp_path)])
        with made.serving() as url:
            assert ask(url, story.request(0, 3)).status_code == 200
            line = after.note(5).rpartition("\n\n")[2]
            both = story.request(3, 5) + line.encode()
            assert ask(url, both).status_code == 200
            assert ask(url, after.request(5, 20)).status_code == 200

    def test_over_one_connection_that_stays_open(self, witness: WitnessProcess, story: Story) -> None:
        with httpx.Client(trust_env=False) as client:
            for size in range(1, 5):
                request = story.request(size - 1, size)
                assert client.post(f"{witness.url}/add-checkpoint", content=request).status_code == 200


class TestRefuses:
    def test_a_request_from_another_size_and_says_its_own(self, witness: WitnessProcess, story: Story) -> None:
        ask(witness.url, story.request(0, 7))
        for old, size in ((0, 9), (5, 9), (8, 9), (0, 7), (3, 3)):
            answer = ask(witness.url, story.request(old, size))
            assert (answer.status_code, answer.text) == (409, "7\n")
            assert answer.headers["Content-Type"] == "text/x.tlog.size"
        assert witness.memory.refused() == [], "to lose count is no crime"

    def test_a_tree_that_went_back(self, witness: WitnessProcess, story: Story) -> None:
        ask(witness.url, story.request(0, 7))
        assert ask(witness.url, story.request(5, 5)).status_code == 409
        assert ask(witness.url, story.request(0, 5)).status_code == 409
        assert ask(witness.url, story.request(7, 5)).status_code == 400
        assert witness.memory.logs()[0].size == 7

    def test_another_tree_of_the_same_size_and_keeps_the_proof(self, witness: WitnessProcess, story: Story) -> None:
        lie = Story().grow(5).grow(2, "lie")
        ask(witness.url, story.request(0, 7))
        for old in (7, 0, 5):
            assert ask(witness.url, lie.request(old, 7)).status_code == 409
        assert witness.memory.logs()[0].note == story.note(7)
        [proof] = witness.memory.refused()
        assert (proof.note, proof.held) == (lie.note(7), story.note(7))
        first, second = map(notes.checkpoint_read, (proof.note, proof.held))
        for one in (first, second):
            notes.checkpoint_verify(one, story.key)
        assert (first.size, first.root != second.root) == (second.size, True), "anybody can check it"

    def test_a_larger_tree_that_does_not_extend_the_one_before(self, witness: WitnessProcess, story: Story) -> None:
        lie = Story().grow(5).grow(10, "lie")
        ask(witness.url, story.request(0, 7))
        assert ask(witness.url, lie.request(7, 15)).status_code == 422
        assert ask(witness.url, body("old 7", [], story.note(9))).status_code == 422
        assert witness.memory.logs()[0].size == 7
        assert {row.note for row in witness.memory.refused()} == {lie.note(15), story.note(9)}

    def test_a_proof_where_there_is_nothing_to_prove(self, witness: WitnessProcess, story: Story) -> None:
        line = "A" * 43 + "="
        assert ask(witness.url, body("old 0", [line], story.note(3))).status_code == 422
        ask(witness.url, story.request(0, 3))
        assert ask(witness.url, body("old 3", [line], story.note(3))).status_code == 422
        empty = notes.checkpoint_sign(story.secret, story.origin, 0, bytes(32))
        assert ask(witness.url, body("old 0", [], empty)).status_code == 409

    def test_an_empty_tree_with_the_root_of_another(self, witness: WitnessProcess, story: Story) -> None:
        empty = notes.checkpoint_sign(story.secret, story.origin, 0, bytes(32))
        assert ask(witness.url, body("old 0", [], empty)).status_code == 422

    def test_a_log_that_nobody_told_it_of(self, witness: WitnessProcess) -> None:
        assert ask(witness.url, Story("log.example/other").grow(3).request(0, 3)).status_code == 404

    def test_a_log_that_did_not_sign(self, witness: WitnessProcess, story: Story) -> None:
        forged = Story(secret=bytes(32)).grow(3)
        assert ask(witness.url, forged.request(0, 3)).status_code == 403
        lines = story.request(0, 3).decode().splitlines()
        name, _, data = lines[-1].rpartition(" ")
        lines[-1] = f"{name} {data[:-5]}AAA="
        assert ask(witness.url, "\n".join([*lines, ""]).encode()).status_code in (400, 403)
        assert witness.memory.logs() == []

    def test_what_is_no_request(self, witness: WitnessProcess) -> None:
        for data in (b"", b"\n\n", b"old 0", b"old 0\n\n", b"\xff\xfe", b"old 0\n\nnot a note\n", b"hello\n" * 100):
            assert ask(witness.url, data).status_code == 400, data

    def test_what_is_written_another_way(self, witness: WitnessProcess, story: Story) -> None:
        other: tuple[tuple[str, list[str]], ...] = (
            *(
                (first, [])
                for first in ("old 00", "old -1", "old +0", "old 0 ", "old  0", "Old 0", "old \u0663", "old 4")
            ),
            ("old 99999999999999999999", []),
            *(("old 0", proof) for proof in (["zz"], ["AAAA"], ["A" * 43 + "="] * 64)),
        )
        for first, proof in other:
            assert ask(witness.url, body(first, proof, story.note(3))).status_code == 400, (first, proof)
        assert ask(witness.url, story.request(0, 3)).status_code == 200, "after all of these it still serves"

    def test_other_addresses_methods_and_sizes(self, witness: WitnessProcess, story: Story) -> None:
        request = story.request(0, 3)
        assert httpx.post(f"{witness.url}/other", content=request, trust_env=False).status_code == 404
        assert httpx.get(f"{witness.url}/add-checkpoint", trust_env=False).status_code == 501
        assert ask(witness.url, b"a" * 40_000).status_code == 413
        endless = iter([b"a"])
        assert httpx.post(f"{witness.url}/add-checkpoint", content=endless, trust_env=False).status_code == 411
        assert witness.memory.logs() == []


class TestRaces:
    def test_of_two_stories_at_once_only_one_is_ever_cosigned(self, witness: WitnessProcess) -> None:
        """Two trees of every size are sent at the same moment, by two connections each, many times."""
        honest, lie = Story().grow(15), Story().grow(15, "lie")
        signed: dict[int, set[str]] = {}
        lock = threading.Lock()
        gate = threading.Barrier(4)

        def tell(one: Story) -> None:
            old = 0
            with httpx.Client(trust_env=False, timeout=30) as client:
                for size in range(1, 16):
                    gate.wait(30)
                    answer = client.post(f"{witness.url}/add-checkpoint", content=one.request(old, size))
                    if answer.status_code == 200:
                        with lock:
                            signed.setdefault(size, set()).add(one.note(size))
                        old = size
                    elif answer.status_code == 409:
                        old = min(int(answer.text), size)

        threads = [threading.Thread(target=tell, args=(one,)) for one in (honest, honest, lie, lie)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(signed) == 15
        winners = {note for found in signed.values() for note in found}
        assert len(winners) == 15, "one tree for each size"
        told = honest if honest.note(1) in winners else lie
        assert winners == {told.note(size) for size in range(1, 16)}, "all of one story"

    def test_a_larger_tree_is_not_rolled_back_by_a_slower_request(self, tmp_path: Path, story: Story) -> None:
        """Two processes on one file, as when a service is started twice."""
        trust = [story.trust_file(tmp_path)]
        one = WitnessProcess(tmp_path, trust)
        two = WitnessProcess.__new__(WitnessProcess)
        two.__dict__ |= one.__dict__
        with one.serving() as first, two.serving() as second:
            ask(first, story.request(0, 5))
            gate = threading.Barrier(2)
            answers: dict[int, int] = {}

            def race(url: str, size: int) -> None:
                gate.wait(30)
                answers[size] = ask(url, story.request(5, size)).status_code

            threads = [threading.Thread(target=race, args=given) for given in ((first, 9), (second, 20))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
        assert sorted(answers.values()) == [200, 409]
        winner = next(size for size, status in answers.items() if status == 200)
        assert one.memory.logs()[0].size == winner


class TestPowerCut:
    def test_forgets_nothing_that_it_answered(self, tmp_path: Path) -> None:
        """Killed at random moments while it answers; what it cosigned is still there, and the other story never is."""
        honest, lie = Story().grow(400), Story().grow(400, "lie")
        witness = WitnessProcess(tmp_path, [honest.trust_file(tmp_path)])
        choice = random.Random(20261130)
        acknowledged = 0
        for _ in range(5):
            witness.start()
            size = held_size(witness)
            assert size >= acknowledged, "a cosignature that was given out is remembered"
            killer = threading.Timer(choice.uniform(0, 0.05), witness.kill)
            doomed = size + choice.randrange(1, 9)
            try:
                with httpx.Client(trust_env=False, timeout=30) as client:
                    while True:
                        answer = client.post(f"{witness.url}/add-checkpoint", content=honest.request(size, size + 1))
                        assert answer.status_code == 200
                        size = acknowledged = size + 1
                        if size == doomed:
                            killer.start()
            except httpx.TransportError:
                killer.join()
        with witness.serving() as url:
            size = held_size(witness)
            assert size >= acknowledged > 0
            assert ask(url, lie.request(size, size)).status_code == 409
            assert ask(url, lie.request(size, 400)).status_code == 422
            assert ask(url, honest.request(size, 400)).status_code == 200


def held_size(witness: WitnessProcess) -> int:
    """Return the size that the witness holds."""
    return next((row.size for row in witness.memory.logs()), 0)


class TestFile:
    def test_is_made_for_its_owner_alone_shown_and_never_overwritten(self, tmp_path: Path, story: Story) -> None:
        path = tmp_path / "w"
        vkey = run("new", path, "--name", "witness.example/w1").stdout.strip()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        again = run("new", path, "--name", "other", check=False)
        assert (again.returncode, "File exists" in again.stderr) == (2, True)
        with Memory(path).turn() as turn:
            turn.hold(Held(story.origin, 7, bytes(32), story.note(7), 1))
            turn.refuse(Refused(story.origin, story.note(6), story.note(7), 2))
        shown = json.loads(run("show", path).stdout)
        assert shown == {
            "vkey": vkey,
            "logs": [{"origin": story.origin, "size": 7, "at_s": 1, "checkpoint": story.note(7)}],
            "refused": [{"origin": story.origin, "seen_s": 2, "checkpoint": story.note(6), "held": story.note(7)}],
        }
        trust = json.loads(story.trust_file(tmp_path).read_text())
        assert str(trust_read({**trust, "witnesses": [vkey], "quorum": 1}).witnesses[0]) == vkey

    @pytest.mark.parametrize("name", ["", "with space", "with+plus", "with\nline"])
    def test_takes_no_name_that_cannot_stand_in_a_note(self, tmp_path: Path, name: str) -> None:
        done = run("new", tmp_path / "w", "--name", name, check=False)
        assert done.returncode == 2
        assert not (tmp_path / "w").exists()

    def test_is_not_made_by_serving(self, tmp_path: Path, story: Story) -> None:
        """A lost memory is a lost key: a fresh one must not cosign again under the old name."""
        missing = tmp_path / "gone"
        done = run("serve", missing, "--trust", story.trust_file(tmp_path), check=False)
        assert (done.returncode, "no such file" in done.stderr) == (2, True)
        missing.write_bytes(b"something else")
        done = run("serve", missing, "--trust", story.trust_file(tmp_path), check=False)
        assert (done.returncode, "not the file of a witness" in done.stderr) == (2, True)

    def test_keeps_a_bounded_number_of_proofs(self, tmp_path: Path) -> None:
        memory = Memory.new(tmp_path / "w", name="w", secret_key=bytes(32))
        with memory.turn() as turn:
            for number in range(REFUSED_MAX + 5):
                turn.refuse(Refused("one", f"note {number}", "held", number))
            turn.refuse(Refused("two", "note", "held", 0))
        assert [len([row for row in memory.refused() if row.origin == name]) for name in ("one", "two")] == [
            REFUSED_MAX,
            1,
        ]

    def test_is_unchanged_by_a_turn_that_fails(self, tmp_path: Path) -> None:
        memory = Memory.new(tmp_path / "w", name="w", secret_key=bytes(32))

        def fails() -> None:
            with memory.turn() as turn:
                turn.hold(Held("one", 1, bytes(32), "note", 1))
                raise RuntimeError

        with pytest.raises(RuntimeError):
            fails()
        assert memory.logs() == []


class TestInstalled:
    def test_as_a_command(self) -> None:
        scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
        module, _, name = scripts["sealdeck-witness"].partition(":")
        assert callable(getattr(import_module(module), name))
