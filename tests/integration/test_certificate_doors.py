"""Certificates by command and over HTTP, and the canary, which stays out of all that they say."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import ai_psychiatrist as ap
from ai_psychiatrist.proof import verify as verifier
from tests.integration.canary import CANARY, INTERVIEW, assert_files_silent, assert_silent
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, settings_with
from tests.patience import PATIENCE_SECONDS


@pytest.fixture
def interview(tmp_path: Path) -> Path:
    path = tmp_path / "interview.txt"
    path.write_text(INTERVIEW, encoding="utf-8")
    return path


def test_assess_writes_a_certificate_that_verify_accepts(tmp_path: Path, interview: Path) -> None:
    file = tmp_path / "certificate.json"
    done = run_here(["assess", str(interview), "--certificate", str(file)], tmp_path)
    assert done.code == 0
    digest = json.loads(file.read_bytes())["sha256"]
    assert f"sha256 {digest}" in done.err
    assert_silent(done.err, file.read_text("utf-8"))
    held = run_here(["verify", str(interview), str(file), "--digest", digest], tmp_path)
    assert held.code == 0
    assert held.out.startswith("The certificate holds.")
    interview.write_text(INTERVIEW.replace("tired", "tyred"), encoding="utf-8")
    refused = run_here(["verify", str(interview), str(file)], tmp_path)
    assert (refused.code, refused.out) == (1, "REFUSED: transcript: this is another one\n")
    assert_silent(held.out, held.err, refused.out, refused.err)
    interview.unlink()
    assert_files_silent(tmp_path)


def test_a_certificate_never_takes_the_place_of_the_interview(
    tmp_path: Path, interview: Path
) -> None:
    other_name = tmp_path / "link.txt"
    other_name.symlink_to(interview)
    for place in (interview, other_name):
        done = run_here(["assess", str(interview), "--certificate", str(place)], tmp_path)
        assert (done.code, done.out) == (2, "")
        assert "error: --certificate: this is the interview itself; name another file" in done.err
        assert_silent(done.out, done.err)
    assert interview.read_text("utf-8") == INTERVIEW
    assert other_name.is_symlink()


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (".", "it is a folder; name a file"),
        ("no/such/folder.json", "its folder is not there"),
        ("-", "name a file; standard output has the result"),
        ("/dev/stdout", "it is a device or a pipe; name a file"),
    ],
)
def test_a_certificate_that_cannot_be_written_costs_no_assessment(
    place: str, reason: str, tmp_path: Path, interview: Path
) -> None:
    done = run_here(["assess", str(interview), "--certificate", place], tmp_path)
    assert (done.code, done.out) == (2, "")
    assert f"error: --certificate: {reason}" in done.err
    assert not (tmp_path / "-").exists()


def test_a_missing_interview_is_told_beside_an_older_certificate(
    tmp_path: Path, interview: Path
) -> None:
    done = run_here(["assess", "none.txt", "--certificate", str(interview)], tmp_path)
    assert done.code == 2
    assert "error: the transcript cannot be read: No such file or directory" in done.err


@pytest.mark.parametrize("given", ["transcript", "certificate"])
def test_verify_says_which_file_is_missing(given: str, tmp_path: Path, interview: Path) -> None:
    files = {"transcript": str(interview), "certificate": str(interview)}
    files[given] = str(tmp_path / CANARY)
    done = run_here(["verify", files["transcript"], files["certificate"]], tmp_path)
    assert done.code == 2 if given == "certificate" else done.code in {1, 2}
    assert_silent(done.out, done.err)


def test_verify_refuses_what_is_no_digest(tmp_path: Path, interview: Path) -> None:
    done = run_here(["verify", str(interview), str(interview), "--digest", CANARY], tmp_path)
    assert done.code == 2
    assert "digest has to be 64 hexadecimal digits" in done.err
    assert_silent(done.out, done.err)


def test_a_result_in_place_of_its_certificate_is_told(tmp_path: Path, interview: Path) -> None:
    file = tmp_path / "result.json"
    file.write_text(run_here(["assess", str(interview), "--json"], tmp_path).out, "utf-8")
    done = run_here(["verify", str(interview), str(file)], tmp_path)
    assert done.code == 2
    assert "this is a result: give the file that --certificate wrote" in done.err
    assert_silent(done.out, done.err)


@pytest.mark.parametrize("option", ["--digest", "--key"])
def test_an_empty_option_is_not_one_left_out(option: str, tmp_path: Path, interview: Path) -> None:
    file = tmp_path / "certificate.json"
    run_here(["assess", str(interview), "--certificate", str(file)], tmp_path)
    done = run_here(["verify", str(interview), str(file), option, ""], tmp_path)
    assert done.code == 2
    assert "64 hexadecimal digits" in done.err
    alone = [sys.executable, str(verifier.__file__), str(interview), str(file), option, ""]
    assert subprocess.run(alone, check=False, capture_output=True).returncode == 1


def test_the_verifier_reads_no_file_without_end(interview: Path) -> None:
    command = [sys.executable, str(verifier.__file__), str(interview), "/dev/zero"]
    done = subprocess.run(command, check=False, capture_output=True, timeout=PATIENCE_SECONDS)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_signed_certificate_names_its_key(tmp_path: Path, interview: Path) -> None:
    key, file = tmp_path / "key", tmp_path / "certificate.json"
    key.write_text("11" * 32)
    key.chmod(0o600)
    settings = {"CERTIFICATE_KEY_FILE": str(key)}
    done = run_here(["assess", str(interview), "--certificate", str(file)], tmp_path, settings)
    signer = done.err.split("signed by ")[1].split()[0]
    held = run_here(["verify", str(interview), str(file), "--key", signer], tmp_path)
    assert f"signed by {signer}" in held.out


def test_the_verifier_runs_without_the_program(tmp_path: Path, interview: Path) -> None:
    result = ap.assess_sync(INTERVIEW, settings=settings_with(tmp_path), certificate=True)
    assert result.certificate is not None
    file = tmp_path / "certificate.json"
    file.write_text(result.certificate.text, encoding="utf-8")
    source = Path(verifier.__file__)
    alone = tmp_path / "verify.py"
    alone.write_bytes(source.read_bytes())
    # Isolated and without site packages: the standard library is all that there is.
    command = [sys.executable, "-I", "-S", str(alone), str(interview), str(file)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    interview.write_text(INTERVIEW + " ", encoding="utf-8")
    assert subprocess.run(command, check=False, capture_output=True).returncode == 1
    file.unlink()
    assert subprocess.run(command, check=False, capture_output=True).returncode == 2


@pytest.mark.parametrize("route", ["/full_pipeline", "/assess/quantitative"])
def test_a_certificate_comes_with_the_answer_that_asks_for_it(route: str, tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path)) as client:
        body = {"transcript_text": INTERVIEW}
        assert client.post(route, json=body).json()["certificate"] is None
        answer = client.post(route, json=body, params={"certificate": True}).json()["certificate"]
        refused = client.post(route, json=body, params={"certificate": CANARY})
    assert ap.verify(INTERVIEW, answer["text"], digest=answer["sha256"]).holds
    assert_silent(answer["text"])
    assert refused.status_code == 422
    assert_silent(refused.text)
