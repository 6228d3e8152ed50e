"""Tells by the header of a table what its columns mean."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ai_psychiatrist.domain.normal_form import nfkc
from ai_psychiatrist.services.transcripts.utterances import FileFault, FileRefused


class Meaning(StrEnum):
    """What a column holds."""

    WORDS = "words"
    SPEAKER = "speaker"
    START = "start"
    END = "end"
    INTERVIEW = "interview"
    """Which interview a row is of."""
    APART = "apart"
    """Nothing of who says what."""


_NAMES: Final = {
    Meaning.WORDS: (
        "text value utterance transcript transcription words content message sentence speech "
        "spokentext said dialogue dialog "
        "wortlaut äußerung aussage inhalt nachricht satz transkript gesprochenes "
        "texto frase mensaje contenido transcripción enunciado "
        "texte phrase contenu paroles énoncé propos "
        "mensagem conteúdo fala transcrição testo messaggio contenuto enunciato trascrizione "
        "tekst zin bericht inhoud uitspraak "
        "文本 内容 文字 话语 發言內容 发言内容 テキスト 発言内容 発話 発話内容 本文 "
        "النص نص الكلام المحتوى"
    ),
    Meaning.SPEAKER: (
        "speaker speakers speakername speakerlabel speakerid label role name participant person "
        "who sprecher sprecherin sprecherinnen rolle hablante orador rol nombre "
        "locuteur locutrice intervenant rôle nom falante papel nome "
        "parlante oratore ruolo spreker naam "
        "说话人 說話人 发言人 發言人 讲话者 角色 姓名 話者 発言者 役割 名前 "
        "المتحدث المتكلم الدور الاسم"
    ),
    Meaning.START: (
        "start starttime startseconds startsec starts begin begintime time timestamp timecode "
        "zeit zeitstempel beginn anfang inicio tiempo début temps início tempo inizio begintijd "
        "tijd 开始 开始时间 開始 開始時間 時間 时间 البداية الوقت"
    ),
    Meaning.END: (
        "end endtime endseconds endsec ends stop stoptime "
        "ende fin fim fine einde eindtijd 结束 结束时间 結束 終了 終了時間 النهاية"
    ),
    Meaning.INTERVIEW: (
        "interviewid sessionid session conversationid dialogueid dialogid transcriptid "
        "participantid file filename"
    ),
    Meaning.APART: (
        "confidence id index row line no nr number turn turnid segment segmentid utteranceid "
        "duration length language lang channel wordcount probability score"
    ),
}
_APART: Final = re.compile(r"[\s_\-.]+")
_UNIT: Final = re.compile(r"[(\[]?(?:s|sec|seconds)[)\]]?\Z")
_SCORES: Final = re.compile(r"phq")


def _key(name: str) -> str:
    plain = nfkc(name.strip().strip('"')).casefold()
    return _APART.sub("", plain)


_MEANINGS: Final = {
    _key(name): meaning for meaning, names in _NAMES.items() for name in names.split()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Where in a row each meaning is, from 0."""

    words: int
    speaker: int | None
    start: int | None
    end: int | None
    interview: int | None
    width: int
    """How many columns there are."""


def columns_of(header: Sequence[str]) -> Columns | None:
    """Return where the columns are, `None` for a header without words.

    Raises `FileRefused` where two columns have one meaning, and where none is known to name the
    speakers but some column might.
    """
    places: dict[Meaning, int] = {}
    for at, meaning in enumerate(map(meaning_of, header)):
        if meaning is None or meaning is Meaning.APART:
            continue
        if meaning in places:
            if Meaning.WORDS not in map(meaning_of, header):
                return None
            raise FileRefused(FileFault.WRONG_HEADER, 1)
        places[meaning] = at
    if Meaning.WORDS not in places:
        return None
    if Meaning.SPEAKER not in places and None in map(meaning_of, header):
        raise FileRefused(FileFault.WRONG_HEADER, 1)
    return Columns(
        words=places[Meaning.WORDS],
        speaker=places.get(Meaning.SPEAKER),
        start=places.get(Meaning.START),
        end=places.get(Meaning.END),
        interview=places.get(Meaning.INTERVIEW),
        width=len(header),
    )


def meaning_of(name: str) -> Meaning | None:
    """Return what a column of this name holds, `None` for a name that is not known."""
    key = _key(name)
    return _MEANINGS.get(key) or _MEANINGS.get(_UNIT.sub("", key))


def is_of_labels(header: Iterable[str]) -> bool:
    """Tell the header of a data set's scores: participants and what they came to."""
    keys = [_key(name) for name in header]
    is_scored = any(map(_SCORES.match, keys))
    return "participantid" in keys and (is_scored or "gender" in keys)
