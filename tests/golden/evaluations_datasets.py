"""Datasets in every form that is read, good and odd: checked, made up, split."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from tests.golden.answer import Answer, Json
from tests.golden.evaluations_shown import all_shown, evaluate, json_file, shown, told
from tests.golden.evaluations_talks import (
    AVEC,
    HEADER,
    TIRED,
    ZEROS,
    daic,
    jsonl,
    labelled_records,
    labelled_texts,
    session,
    write,
)

Files: TypeAlias = Mapping[str, str | bytes]

_E_DAIC_ROWS: Final = (
    'Start_Time,End_Time,Text,Confidence\n0.1,0.9,"well, i sleep badly",0.9\n1.1,1.9,and you,0.8\n'
)
_NAMES: Final = "Tom: how are you\nAnna: fine\nTom: good\nAnna: bye\n"
_KNOWN: Final = "Doctor: hi\nPatient: well\nAnna: she is sad\nAnna: she is\n"
_CUES: Final = (
    "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Doctor>hi\n\n00:02.000 --> 00:03.000\n<v Patient>well\n"
)
_TABLE: Final = "start,end,speaker,text\n0,1,Doctor,hi\n1,2,Patient,well\n"
_PLAIN: Final = daic(("Ellie", "hello"), ("Participant", "hi"))
_ODD_ROWS: Final = daic(
    ("Participant", "<sync>"),
    ("Participant", "is this on"),
    ("Ellie", "hi"),
    ("Participant", ""),
    ("PARTICIPANT ", "<laughter> xxx sleep"),
    ("Ellie", "sleep_ask (how do you sleep)"),
    ("Participant", "scrubbed_entry"),
    ("Participant", "i live in scrubbed_entry now"),
    ("", "somebody says this"),
    ("Zoltan", "and this"),
    ("Participant", "nan"),
)
_MINUTES: Final = daic(*(("Ellie" if at % 2 else "Participant", f"word {at}") for at in range(500)))

_CORPORA: Final[Mapping[str, Files]] = {
    "nested": {"data/DAIC/transcripts/300_P/300_transcript.csv": _PLAIN},
    "flat": {
        "transcripts/300_TRANSCRIPT.csv": _PLAIN,
        "301_P.tar/301_P/301_TRANSCRIPT.csv": _PLAIN,
    },
    "labels_and_splits": {
        **session(300),
        **session(301),
        **session(302),
        **session(1000),
        "labels/train_split_Depression_AVEC2017.csv": f"{AVEC}\n300,{ZEROS}\n304,{ZEROS}\n",
        "dev_split_Depression_AVEC2017.csv": f"{AVEC}\n301,1,12,1,2,2,2,1,1,2,1,1\n",
        "test_split_Depression_AVEC2017.csv": "participant_ID,Gender\n302,1\n303,0\n",
        "full_test_split.csv": "Participant_ID,PHQ_Binary,PHQ_Score,Gender\n302,1,12,1\n",
    },
    "odd_rows": session(300, _ODD_ROWS),
    "interrupted_373": session(373, _MINUTES),
    "interrupted_444": session(444, _MINUTES),
    "stub_as_transcript": {"300_P/300_TRANSCRIPT.csv": b"\x00\x05\x16\x07\x00\x02"},
    "not_text": session(300, b"\x00\x01\xff\xfe\x00"),
    "header": session(300, "a,b\n"),
    "broken_row": session(300, _PLAIN + "and then i cried\n"),
    "interviewer_alone": session(300, daic(("Ellie", "a"))),
    "no_words": session(300, daic()),
    "two_that_differ": {**session(300), "300_TRANSCRIPT.csv": _PLAIN + "9\t9\tEllie\tbye\n"},
    "two_that_agree": {**session(300, _PLAIN), "300_TRANSCRIPT.csv": _PLAIN},
    "stub_beside": {**session(300), "__MACOSX/300_P/._300_TRANSCRIPT.csv": b"\x00\x05\x16\x07"},
    "folder_of_another": {"301_P/300_TRANSCRIPT.csv": _PLAIN},
    "never_given": session(342),
    "packed": {**session(300), "301_P.tar.gz": b"", "notes.csv": "a,b\n1,2\n", "300_P.zip": b""},
    "beside_sessions": {**session(300), "300_P/notes.txt": "x", ".git/x.txt": "x"},
    "in_two_splits": {
        **session(300),
        **{f"{name}_split.csv": f"{AVEC}\n300,{ZEROS}\n" for name in ("train", "dev")},
    },
    "label_rows": {
        **{name: one for number in range(300, 311) for name, one in session(number).items()},
        "train_split.csv": "\n".join(
            [
                AVEC,
                *(f"300,{ZEROS}", f"300,{ZEROS}", ",1,1", "mean,1", f"301,{ZEROS},9"),
                *("302,0,5,0,5,0,0,0,0,0,0,0", "303,0,1,0,0,0,,0,0,0,0,0"),
                *("304.0,0,9,0,0,0,0,0,0,0,0,0", "305,0,10,0,1,1,1,1,1,1,1,3"),
                *("306,0,high,0,0,0,0,0,0,0,0,0", "307,0,9,0,1,1,,1,1,1,1,"),
                *(
                    f"308,{ZEROS}",
                    "308,0,1,1,1,0,0,0,0,0,0,0",
                    "309,,,1,,,,,,,,",
                    "310,1,,0,,,,,,,,",
                ),
            ]
        ),
    },
    "e_daic": {
        "300_P.tar/300_P/300_Transcript.csv": _E_DAIC_ROWS,
        "301_P/301_Transcript.csv": "Start_Time,End_Time,Text\n0.1,0.9,\n",
        "labels/train_split.csv": (
            "Participant_ID,Gender,PHQ_Binary,PHQ_Score,PCL-C (PTSD),PTSD Severity\n"
            "300,male,0,2,0,17\n301,male,1,12,0,17\n"
        ),
        "labels/Detailed_PHQ8_Labels.csv": (
            f"Participant_ID ,{HEADER.replace('PHQ8_', 'PHQ_8')},PHQ_8Total\n"
            "300,0,0,2,0,0,0,0,0,2\n"
        ),
    },
    "labels_not_utf_8": {
        **session(300),
        "dev_split.csv": f"{AVEC}\n300,{ZEROS}\n".encode("utf-16"),
    },
    "labels_no_table": {**session(300), "dev_split.csv": f"{AVEC}\n300,{'9' * 200_000}\n"},
    "columns_twice": {**session(300), "dev.csv": "Participant_ID,PHQ8_Score,PHQ_8Total\n300,1,1\n"},
    "missing_split_file": {"300_P/notes.txt": "x"},
}
_FOLDERS: Final[Mapping[str, Files]] = {
    "every_form": {
        "a.txt": "Therapist: how are you\nClient: fine\n",
        "b.csv": _TABLE,
        "c.tsv": _TABLE.replace(",", "\t"),
        "d.vtt": _CUES,
        "e.jsonl": '{"speaker": "Doctor", "text": "hi"}\n{"speaker": "Patient", "text": "well"}\n',
        "f.json": '{"turns": [{"speaker": "Patient", "text": "well"}]}',
        "300.csv": _PLAIN,
        "g.txt": "i sleep badly.\nsince may.\n",
        "README.txt": "all are made up",
    },
    "not_read": {
        "a.txt": _KNOWN,
        "b.pdf": "x",
        "c.docx": b"no document",
        "d.wav": "x",
        "more/e.txt": _KNOWN,
        "a.vtt": _CUES,
        "several.jsonl": '{"id": "a", "text": "P: hi"}\n{"id": "b", "text": "P: hi"}\n',
        "table.csv": "Doctor,how are you today\nPatient,i am well\n",
        "numbers.csv": "frame,x\n1,2\n",
        "empty.txt": "",
    },
    "mixed": {
        **session(300),
        "a.txt": _KNOWN,
        "300.txt": _KNOWN,
        "scores.csv": f"{AVEC}\n300_P,{ZEROS}\na.txt,{ZEROS}\nz,{ZEROS}\n",
    },
    "first_names": {"a.txt": _NAMES, "b.txt": _KNOWN},
    "named_by_rows": {
        "a.txt": _NAMES,
        "b.txt": _KNOWN,
        "speakers.csv": (
            "file,label,role\na.txt,Anna,participant\nb,Patient,other\n*,Anna,participant\n"
        ),
    },
    "named_by_a_line": {
        "a.txt": f"speakers: Anna = participant\n{_NAMES}",
        "b.txt": f"speakers: Anna = boss\n{_NAMES}",
    },
    "rows_of_nobody": {
        "a.txt": _NAMES,
        "speakers.csv": "file,label,role\nb.txt,Anna,participant\n",
    },
    "rows_of_another_role": {
        "a.txt": _NAMES,
        "speakers.csv": "file,label,role\n\na.txt,Anna,boss\n",
    },
    "rows_without_a_header": {"a.txt": _NAMES, "speakers.csv": "name,role\n"},
    "rows_that_contradict": {
        "a.txt": _NAMES,
        "speakers.csv": "file,label,role\na,Anna,other\na.txt,ANNA,participant\n",
    },
    "corrupt_labels": {
        "a.txt": TIRED,
        "b.txt": TIRED,
        "labels.csv": (
            f"unit_id,{HEADER}\na,1,2,3,0,1,2,3,x\nb,0,0,0,0,0,0,0,7\nc,0,0,0,0,0,0,0,0\n"
        ),
    },
    "nothing_known": {"notes.md": "", "a.pdf": "x"},
    "empty": {},
}
_RECORDS: Final[Mapping[str, Sequence[object]]] = {
    "every_form": [*labelled_records(range(1, 9)), ""],
    "labels_of_each_kind": [
        {"id": "a", "text": TIRED, "items": [0, 1, 2, 3, 0, 1, 2, 3], "split": "dev"},
        {"id": "b", "text": TIRED, "phq8_items": [0] * 8, "total": 3, "participant_id": 7.0},
        {"id": "c", "text": TIRED, "items": {"PHQ8_Sleep": 1, "mood": 2}},
        {"id": "d", "text": TIRED, "items": [1] * 8, "second_items": {"PHQ8_Sleep": 2}},
        {"id": "e", "text": TIRED, "total": 12, "binary": False, "participant_id": ["x"]},
        {"id": "f", "text": TIRED, "items": "01230123"},
        {"id": "g", "text": TIRED},
    ],
    "odd_lines": [
        *("{oops", '["secret"]', '{"id": "b"}', {"id": "c", "turns": []}, {"text": TIRED}),
        {"id": "d", "text": "i sleep badly"},
        {"id": "e", "turns": [{"speaker": "doctor", "text": "well"}]},
        {"id": "f", "turns": [{"speaker": 1, "text": "well"}]},
        *({"id": "g", "text": TIRED}, {"id": "g", "text": TIRED}),
        {
            "id": "h",
            "turns": [{"speaker": "patient", "text": "hm"}, {"speaker": "Zo", "text": "a"}],
        },
        {"id": "i", "text": _NAMES, "speakers": {"Anna": "participant"}},
    ],
    "empty": [],
}


def answers(folder: Path) -> Iterator[Answer]:
    """Yield what is found in each dataset, and the datasets that are made and drawn."""
    for kind, datasets in (("corpora", _CORPORA), ("folders", _FOLDERS)):
        for name, files in datasets.items():
            write(folder / kind / name, files)
            value = all_shown(
                folder / kind,
                {
                    "json": ("datasets", "check", name, "--json"),
                    "table": ("datasets", "check", name),
                },
            )
            yield told(f"datasets/{kind}/{name}", value, folder)
    for name, records in _RECORDS.items():
        jsonl(folder / f"{name}.jsonl", records)
        ended = evaluate(folder, "datasets", "check", f"{name}.jsonl", "--json")
        yield told(f"datasets/jsonl/{name}", shown(ended), folder)
    yield told("datasets/options", all_shown(folder, _options()), folder)
    yield told("datasets/refused", all_shown(folder, _refused(folder)), folder)
    yield from _made_up(folder)
    yield from _split(folder)


def _options() -> Mapping[str, Sequence[object]]:
    check = ("datasets", "check", "--json")
    names, odd = "folders/first_names", "corpora/odd_rows"
    windows = ("official", "tool", "tool-test", "keep")
    return {
        "participant": (*check, names, "--participant", "Anna"),
        "both": (*check, names, "--participant", "anna", "--interviewer", "Tom"),
        "participant_only": (*check, odd, "--speakers", "participant-only"),
        "question_context": (*check, odd, "--speakers", "question-context"),
        **{f"codes_{kept}": (*check, odd, "--codes", kept) for kept in ("text", "code", "both")},
        **{
            f"window_{one}": (*check, "corpora/interrupted_373", "--interruption-373", one)
            for one in windows
        },
        "sessions_of_a_mixed_folder": (*check, "folders/mixed", "--kind", "daic-woz"),
        "texts_of_a_mixed_folder": (*check, "folders/mixed", "--kind", "text"),
        "sessions_as_e_daic": (*check, "corpora/nested", "--kind", "e-daic"),
        "one_file": (*check, "folders/every_form/d.vtt"),
        "one_session": (*check, "corpora/interrupted_373/373_P/373_TRANSCRIPT.csv"),
    }


def _refused(folder: Path) -> Mapping[str, Sequence[object]]:
    check = ("datasets", "check")
    write(folder, {"talks.parquet": b"PAR1"})
    return {
        "no_path": (*check, "nowhere"),
        "a_text_in_place_of_a_path": (*check, TIRED * 100),
        "another_kind": (*check, "folders/every_form", "--kind", "daic-woz"),
        "unknown_kind": (*check, "folders/every_form", "--kind", "parquet"),
        "unknown_codes": (*check, "folders/every_form", "--codes", "all"),
        "unknown_speakers": (*check, "folders/every_form", "--speakers", "all"),
        "no_lines": (*check, "talks.parquet"),
        "label_of_everybody": (*check, "folders/first_names", "--participant", "*"),
        "label_of_nobody": (*check, "folders/first_names", "--interviewer", " "),
        "make_too_few": ("datasets", "make", "few", "--units", "3"),
        "make_in_use": ("datasets", "make", "folders"),
        "make_unknown_form": ("datasets", "make", "new", "--form", "text"),
    }


def _made_up(folder: Path) -> Iterator[Answer]:
    made = {
        "daic_woz": ("demo", "--units", "20"),
        "e_daic": ("demo-e", "--units", "20", "--seed", "3", "--form", "e-daic"),
    }
    for name, arguments in made.items():
        ended = evaluate(folder, "datasets", "make", *arguments)
        out = folder / arguments[0]
        files = sorted(path for path in out.rglob("*") if path.is_file())
        value: dict[str, Json] = {
            "made": shown(ended),
            "files": [f"{path.relative_to(out).as_posix()}|{_mark(path)}" for path in files],
            "readme": (out / "README.md").read_text("utf-8").splitlines(),
            "check": shown(evaluate(folder, "datasets", "check", arguments[0], "--json")),
            "table": shown(evaluate(folder, "datasets", "check", arguments[0])),
        }
        yield told(f"datasets/made/{name}", value, folder)
    checked = ("demo", "demo-e", "folders/mixed", "folders/every_form", "every_form.jsonl")
    told_digests = {name: _digest(folder, name) for name in checked}
    yield told("datasets/digests", told_digests, folder)


def _mark(path: Path) -> str:
    """Return some digits of a file's digest, fewer than are masked."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]


def _digest(folder: Path, name: str) -> Json:
    """Return some digits of a dataset's digest, under which a run of today is gone on with."""
    found = json.loads(evaluate(folder, "datasets", "check", name, "--json").out)["digest"]
    return str(found)[:8]


def _split(folder: Path) -> Iterator[Answer]:
    labelled_texts(folder / "talks", range(1, 15))
    drawn = {
        "texts": ("talks", "--part", "train=6", "--part", "test=5", "--seed", "3"),
        "again": ("talks", "--part", "train=6", "--part", "test=5", "--seed", "3"),
        "another_seed": ("talks", "--part", "train=6", "--part", "test=5"),
        "of_a_split": ("talks", "--part", "few=2", "--of", "test"),
        "sessions": ("demo", "--part", "all=17", "--kind", "daic-woz"),
        "persons_of_two_talks": ("every_form.jsonl", "--part", "a=2", "--part", "b=3"),
    }
    for name, (dataset, *options) in drawn.items():
        out = f"splits-{name}"
        ended = evaluate(folder, "datasets", "split", dataset, out, *options)
        written = {path.name: json_file(path) for path in sorted((folder / out).iterdir())}
        yield told(f"datasets/split/{name}", {"split": shown(ended), "files": written}, folder)
    split = ("datasets", "split", "talks", "splits-refused")
    refused: Mapping[str, Sequence[object]] = {
        "too_many": (*split, "--part", "all=15"),
        "no_size": (*split, "--part", "all"),
        "nobody": (*split, "--part", "all=0"),
        "twice": (*split, "--part", "a=1", "--part", "a=2"),
        "no_name": (*split, "--part", "../a=1"),
        "unknown_split": (*split, "--part", "a=1", "--of", "dev"),
        "no_part": split,
    }
    yield told("datasets/split/refused", all_shown(folder, refused), folder)
