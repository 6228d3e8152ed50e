"""Words of somebody else than the participant: refused, or nobody's."""

import pytest
from tests.unit.services.transcripts.test_documents import document

from ai_psychiatrist.domain.errors import AssessmentServiceError, SpeakersUnknown
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript

STRANGE = "He keeps rum in the shed."
OWN = "I stay in bed until noon."


def own_words(transcript: Transcript) -> str:
    return " ".join(transcript.words(turn).strip() for turn in transcript.participant_turns())


def said_in(text: str) -> str:
    return own_words(read_transcript(text, SpeakerLabels()))


def named(label: str) -> SpeakerLabels:
    return SpeakerLabels(given=((label, Speaker.PARTICIPANT),))


QUESTIONS = (
    "Do you sleep?",
    "Well, tell me. Are you tired? I was.",
    "Schlafen Sie gut?",
    "Wie geht es dir?",
    "Vous dormez bien ?",
    "¿Cómo te sientes?",
    "¿Cómo está usted?",
    "Come ti senti?",
    "Você dorme bem?",
    "Slaapt u goed?",
    "你睡得好吗？",
    "よく眠れますか？",
    "كيف حالك؟",
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_text_that_asks_somebody_is_refused_and_its_question_is_nobodys(question: str) -> None:
    with pytest.raises(SpeakersUnknown, match="asks somebody"):
        read_transcript(f"{question}\n{OWN}")
    transcript = read_transcript(f"Participant: {OWN}\n\n{question}\n\nParticipant: Hm.")
    assert own_words(transcript) == f"{OWN} Hm."


@pytest.mark.parametrize(
    "told", ['She asked, "Are you ill?" I was.', "It was, you know? Bad.", "Why me?", "你累。"]
)
def test_question_that_is_told_or_put_to_nobody_is_ones_own(told: str) -> None:
    assert own_words(read_transcript(told)) == told


OF_TWO = {
    "remarks_in_brackets": "[{s}]\n{o}\n[{s}]\n{o}",
    "names_in_brackets_on_one_line": "(Ada) {s} (Bo) {o} (Ada) {s}",
    "names_and_dashes_on_one_line": "Ada - {s} Bo - {o} Ada - {s}",
    "dashes_on_one_line": "{s} – {o} – {s} – {o}",
    "slashes_on_one_line": "{s} / {o} / {s} / {o}",
    "quotes_on_one_line": '"{s}" "{o}" "{s}" "{o}"',
    "single_quotes": "‘{s}’\n‘{o}’\n‘{s}’",
    "times_behind": "{s} #00:01:02-1#\n{o} #00:01:05-2#",
    "signatures": "{s} 10:12, 3 April (UTC)\n{o} 10:15, 3 April (UTC)",
    "rows_of_a_query": "INSERT INTO t VALUES (1, '{s}');\nINSERT INTO t VALUES (2, '{o}');",
    "header_and_names": "Patient: Bo W.\nDate: May\n\nAda: {s}\nBo: {o}",
    "header_and_initials": "Interviewer: Ada K\nParticipant: Bo W\n\nAK: {s}\nBW: {o}",
    "header_and_number": "Participant: P03\nInterviewer: AK\n\nAda: {s}\nBo: {o}",
    "header_and_note": "Patient: Bo W.\nDate: May\n\n{s} He is at risk.",
    "legend": "P = psychologist, I = interviewee\n\nP: {s}\nI: {o}\nP: {s}",
    "noted_numbers": "Participant (1): {s}\nParticipant (2): {o}",
    "noted_names": "Participant [Ada]: {s}\nParticipant [Bo]: {o}",
    "noted_initials": "P[f]: {s}\nP[m]: {o}",
    "noted_signs": "Client <a>: {s}\nClient <b>: {o}",
    "second_numbers": "Participant:1: {s}\nParticipant:2: {o}",
    "channels": "channel,text\nleft,{s}\nright,{o}\nleft,{s}\n",
    "names_as_ids": "ID,text\nAda,{s}\nBo,{o}\nAda,{s}\n",
}


@pytest.mark.parametrize("layout", OF_TWO)
def test_text_that_does_not_tell_its_participant_is_refused(layout: str) -> None:
    with pytest.raises(SpeakersUnknown, match="--participant"):
        read_transcript(OF_TWO[layout].format(s=STRANGE, o=OWN))


def test_role_of_two_names_is_refused() -> None:
    turn = '{{"role": "participant", "name": "{}", "text": "{}"}}'
    with pytest.raises(AssessmentServiceError):
        read_transcript(f"[{turn.format('Ada', STRANGE)}, {turn.format('Bo', OWN)}]")


LINES = (
    "Mother {s}",
    "MOTHER {s}",
    "mother - {s}",
    "Mother. {s}",
    "Mother; {s}",
    "Mother, {s}",
    "Mother… {s}",
    "Mother\n{s}",
    "(Mother) {s}",
    "**Mother** {s}",
    "[Mother speaking] {s}",
    "== Mother ==\n{s}",
    "## Mother\n{s}",
    "Mother 00:12:03 {s}",
    "12'03\" Mother: {s}",
    "[p. 3] Mother: {s}",
    "&lt;Mother&gt; {s}",
    "{s} (Mother)",
    "{s} — Mother",
    "Patient's mother {s}",
    "The neighbour (with a key), shouting: {s}",
    "Mrs K. {s}",
    "DR. VOGT {s}",
    "speaker3 {s}",
    "[new speaker] {s}",
    "Dolmetscher*in: {s}",
    "Madre.- {s}",
    "母「{s}」",
    "「{s}」母",
    "母　　{s}",
    "Interviewer {s}",
    "interviewer- {s}",
    "Interviewer (cont'd) {s}",
    'Interviewer "{s}"',
    "Interviewer… {s}",
    "Vera\n{s}",
    "Vera -- {s}",
    "(Vera) {s}",
    "[Vera] {s}",
    "Vera; {s}",
    "Vera = {s}",
    "Vera · {s}",
    "Vera  {s}",
    "Vera (crying) {s}",
    "VERA {s}",
    "{s} (Vera)",
    "- {s}",
    "({s})",
    "3 {s}",
    "Q {s}",
    "gloss\t{s}",
    "---\n{s}",
    "[End of interview]\n\n{s}",
    "END OF TRANSCRIPT\n{s}",
    "Diagnosis: {s}",
    "Note: {s}",
    "Interviewer's notes\n{s}",
    "Page 3 of 9   {s}",
    "Second interview, with the mother\n{s}",
)
FRAME = (
    "Interviewer: Hello, I would like to begin\nwith your week.\nParticipant: It was not good, and "
    "on most\ndays "
    + OWN
    + "\n{}\nInterviewer: Tell me more of the\nevenings.\nParticipant: They are long."
)


@pytest.mark.parametrize("line", LINES)
def test_line_that_opens_or_closes_as_somebody_elses_is_nobodys(line: str) -> None:
    said = own_words(read_transcript(FRAME.format(line.format(s=STRANGE))))
    assert "rum" not in said
    assert OWN in said
    assert said.endswith("They are long.")


@pytest.mark.parametrize(
    "line",
    [
        "Mother died in May.",
        "My mother, she left.",
        "I... I do not know.",
        "mother and father came.",
        "The doctor gave me pills.",
        "Anna told me to rest.",
        "[sighs] Well, I am tired.",
        "It is, you know? Hard.",
    ],
)
def test_line_that_goes_on_with_a_turn_stays_the_participants(line: str) -> None:
    assert line in own_words(read_transcript(FRAME.format(line)))


@pytest.mark.parametrize(
    "aside",
    [
        "[Interviewer: mhm]",
        "(Interviewer: do you?)",
        "((Interviewer: mhm))",
        "{Interviewer: mhm}",
        "<Interviewer: mhm>",
        "/Interviewer: mhm/",
        "– Interviewer: mhm –",
        "(Interviewer - mhm)",
        "[Interviewer asks, mhm]",
        "(A: mhm)",
        "[Mother: mhm]",
    ],
)
def test_aside_of_somebody_else_is_taken_out_and_the_turn_goes_on(aside: str) -> None:
    text = f"Interviewer: Hi.\nParticipant: I never {aside} got up.\nInterviewer: Well."
    assert own_words(read_transcript(text)) == "I never got up."
    table = f'speaker,text\nInterviewer,Hi\nParticipant,"I never {aside} got up."\n'
    assert own_words(read_transcript(table)) == "I never got up."


@pytest.mark.parametrize("gap", [".", "\\n", "]", " "])
def test_label_behind_a_lost_line_end_opens_a_turn(gap: str) -> None:
    text = f"Interviewer: Hi.\nParticipant: I rest{gap}Interviewer: {STRANGE}\nParticipant: Yes."
    assert "rum" not in own_words(read_transcript(text))


@pytest.mark.parametrize(
    "note", ["(GP)", "[wife]", "(left)", "[as told by wife]", "[wife speaking]", "<2>", "(bed 2)"]
)
def test_label_with_a_note_is_another_than_the_one_without(note: str) -> None:
    text = f"Interviewer: Hi.\n{{0}}: {OWN}\n{{0}} {note}: {STRANGE}"
    assert own_words(read_transcript(text.format("Patient"))) == OWN
    assert own_words(read_transcript(text.format("Bo"), named("Bo"))) == OWN


@pytest.mark.parametrize(
    "note", ["(crying)", "(to mother)", "(looks at mother)", "[00:01:02]", "(lacht)", "[quietly]"]
)
def test_manner_and_time_behind_a_label_leave_it_the_same(note: str) -> None:
    text = f"Interviewer: Hi.\nPatient: {OWN}\nPatient {note}: Yes."
    assert own_words(read_transcript(text)) == f"{OWN} Yes."


def test_cue_without_a_label_is_nobodys_where_nearly_all_have_one() -> None:
    said = (
        "Interviewer: Hi.",
        f"Participant: {OWN}",
        STRANGE,
        "Interviewer: So.",
        "Participant: No.",
    )
    cues = (f"{at}\n00:00:0{at},000 --> 00:00:0{at},900\n{words}" for at, words in enumerate(said))
    assert own_words(read_transcript("\n\n".join(cues))) == f"{OWN} No."


LOOKS = {
    "bold": "<w:r><w:rPr><w:b/></w:rPr><w:t>{}</w:t></w:r>",
    "colour": '<w:r><w:rPr><w:color w:val="FF0000"/></w:rPr><w:t>{}</w:t></w:r>',
    "right": '<w:pPr><w:jc w:val="right"/></w:pPr><w:r><w:t>{}</w:t></w:r>',
    "style": '<w:pPr><w:pStyle w:val="Ada"/></w:pPr><w:r><w:t>{}</w:t></w:r>',
}
PLAIN = f"<w:p><w:r><w:t>{OWN}</w:t></w:r></w:p>"


@pytest.mark.parametrize("look", LOOKS)
def test_paragraphs_of_two_looks_in_turn_are_refused(look: str) -> None:
    other = f"<w:p>{LOOKS[look].format(STRANGE)}</w:p>"
    with pytest.raises(SpeakersUnknown, match="differ in how they look"):
        read_transcript(document((other + PLAIN) * 3))


def test_headings_of_a_document_are_no_second_voice() -> None:
    style = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>May</w:t></w:r>'
    assert OWN in own_words(read_transcript(document((f"<w:p>{style}</w:p>" + PLAIN) * 3)))


@pytest.mark.parametrize(
    "unsaid",
    [
        f"<w:r><w:rPr><w:vanish/></w:rPr><w:t>{STRANGE}</w:t></w:r>",
        f"<w:r><w:rPr><w:strike/></w:rPr><w:t>{STRANGE}</w:t></w:r>",
        f"<w:r><w:txbxContent><w:p><w:r><w:t>{STRANGE}</w:t></w:r></w:p></w:txbxContent></w:r>",
        f"<w:r><w:tab/><w:t>{STRANGE}</w:t></w:r>",
    ],
    ids=["hidden", "struck_out", "text_box", "margin"],
)
def test_what_a_document_hides_or_sets_beside_is_not_said(unsaid: str) -> None:
    turns = (
        f"<w:p><w:r><w:t>Interviewer: Hi.</w:t></w:r></w:p>{PLAIN.replace(OWN, 'Patient: ' + OWN)}"
    )
    content = document(turns.replace("</w:p>", f"{unsaid}</w:p>"))
    assert own_words(read_transcript(content)) == OWN


@pytest.mark.parametrize("text", [OWN, f"tom - {STRANGE}\nanna - {OWN}", f"Ada: {OWN}\nAda: No."])
def test_named_label_that_is_no_label_of_the_text_is_refused(text: str) -> None:
    with pytest.raises(SpeakersUnknown, match="does not have the named label"):
        read_transcript(text, named("Bo"))


PROMPTS = [
    "And the mornings?",
    "Do you see friends?",
    "Tell me about your mother.",
    "Okay, tell me more about your mother.",
    "I see. And the mornings?",
    "Thank you very much for your time.",
    "You look tired today.",
    "OK. TELL ME MORE",
    "- okay go on",
    "Q4 How often did it happen",
    "2. Sleep and appetite",
    "Recording paused at 12:04.",
    "The participant seemed tired and avoided eye contact.",
    '"Is this room free?" (a colleague at the door)',
]


@pytest.mark.parametrize("blank", ["\n", "\n\n"])
@pytest.mark.parametrize("line", PROMPTS)
def test_a_forgotten_label_gives_the_participant_no_words_of_others(line: str, blank: str) -> None:
    text = f"I: Hello.{blank}P: I am low.{blank}{line}{blank}P: Toast.{blank}I: Bye."
    said = said_in(text)
    assert "I am low." in said
    assert "Toast." in said
    assert line not in said


@pytest.mark.parametrize("line", PROMPTS[:6])
def test_where_only_answers_are_labelled_lines_between_them_are_nobodys(line: str) -> None:
    said = said_in(f"{line}\nP: Less.\n{line}\nP: Toast.\n{line}\nP: Bread.")
    assert line not in said
    assert "Toast." in said


@pytest.mark.parametrize(
    "paragraph",
    [
        "When I told her she said pull yourself together. That was all.",
        "In the evening it is better. I couldn't tell you why.",
        "It was after Christmas. We went home then.",
    ],
)
def test_a_second_paragraph_of_an_answer_stays_the_participants(paragraph: str) -> None:
    turns = "\n\n".join(f"Interviewer: And {n}?\n\nParticipant: Fine." for n in range(8))
    said = said_in(f"{turns}\n\n{paragraph}\n\nInterviewer: Bye.")
    assert paragraph in said


@pytest.mark.parametrize("aside", ["{Th: Take your time.}", "<T: ok then>", "((T: go on))"])
def test_an_aside_with_a_label_in_any_brackets_is_nobodys(aside: str) -> None:
    said = said_in(f"T: Hello.\nClient: I am low {aside} and tired.\nT: Bye.")
    assert aside not in said
    assert "and tired." in said


@pytest.mark.parametrize(
    "text",
    [
        "[I] The sleep then.\n[P] I wake at three.\n[I] Food.\n[P] Toast.",
        "A> The sleep then.\nB> I wake at three.\nA> Food.\nB> Toast.",
        "Tell me about sleep.\nI wake at three.\nDescribe the food.\nToast.",
        "0:10\nthe sleep then\n0:14\ni wake at three",
    ],
)
def test_a_text_of_two_without_a_question_mark_is_refused(text: str) -> None:
    with pytest.raises(SpeakersUnknown):
        read_transcript(text, SpeakerLabels())
