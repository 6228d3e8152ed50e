"""Texts of two people in layouts that no label opens, and texts of one person in many shapes."""

from typing import Final

STRANGE: Final = "I cannot sleep nearly every day."
OWN: Final = "I feel fine and I eat well."
MORE: Final = "It began in May."
_ASKED: Final = "Since when has it been so?"

OF_TWO: Final = {
    "columns": f"{STRANGE}\t{OWN}\n{_ASKED}\t{MORE}\nAnd now?\tBetter.",
    "columns_with_names": f"Interviewer\tParticipant\n{STRANGE}\t{OWN}\n{_ASKED}\t{MORE}",
    "columns_with_names_turned": f"Participant\tInterviewer\n{OWN}\t{STRANGE}\n{MORE}\t{_ASKED}",
    "columns_of_blanks": f"{STRANGE}      {OWN}\n{_ASKED}      {MORE}\nAnd now?         Better.",
    "columns_of_pipes": f"| Anna | Tom |\n|---|---|\n| {STRANGE} | {OWN} |\n| {_ASKED} | {MORE} |",
    "legend": f"Interviewer: JD\nParticipant: AS\n\nJD {STRANGE}\nAS {OWN}\nJD {_ASKED}\nAS {MORE}",
    "legend_of_participant": f"Participant: AS\nJD {STRANGE}\nAS {OWN}\nJD {_ASKED}\nAS {MORE}",
    "legend_of_names": (
        f"Participant: Anna Schmidt\nInterviewer: Jonas Dorn\n\nJD {STRANGE}\nAS {OWN}\n"
        f"JD {_ASKED}\nAS {MORE}"
    ),
    "legend_of_labels": (
        f"Participant: AS\nInterviewer: JD\n\nJD: {STRANGE}\nAS: {OWN}\nJD: {_ASKED}"
    ),
    "legend_without_names": (
        f"Interviewer: Dr. Dorn\nParticipant: P07\n\n{STRANGE}\n\n{OWN}\n\n{MORE}"
    ),
    "bbcode": f"[b]Anna[/b] {STRANGE}\n[b]Tom[/b] {OWN}\n[b]Anna[/b] {_ASKED}",
    "bbcode_of_colours": f"[color=red]{STRANGE}[/color]\n[color=blue]{OWN}[/color]",
    "xml": f'<turn speaker="Anna">{STRANGE}</turn>\n<turn speaker="Tom">{OWN}</turn>',
    "xml_on_one_line": f'<t who="Anna">{STRANGE}</t><t who="Tom">{OWN}</t>',
    "html": f"<p><b>Anna</b> {STRANGE}</p>\n<p><b>Tom</b> {OWN}</p>",
    "html_without_names": f"<p>{STRANGE}</p>\n<p><i>{OWN}</i></p>",
    "mail": f"{OWN}\n\nOn Mon, 3 May 2021 at 10:15, Anna Schmidt wrote:\n> {STRANGE}\n> {_ASKED}",
    "mail_of_one_quote": f"> {STRANGE}\n{OWN}\n{MORE}",
    "mail_without_marks": f"{OWN}\n\nAm 3. Mai 2021 schrieb Anna Schmidt:\n{STRANGE}",
    "mail_forwarded": f"{OWN}\n\n-----Original Message-----\n{STRANGE}\n{_ASKED}",
    "hyphens": f"- {STRANGE}\n- {OWN}\n- {_ASKED}\n- {MORE}",
    "hyphens_without_stops": "- how are you today\n- bad\n- since when\n- may",
    "bullets": f"• {STRANGE}\n• {OWN}\n• {_ASKED}\n• {MORE}",
    "numbers": f"1. {STRANGE}\n2. {OWN}\n3. {_ASKED}\n4. {MORE}",
    "arabic_behind": "كيف حالك؟ :المعالج\nلا أنام جيدا :المريض\nمنذ متى؟ :المعالج",
    "arabic_names_behind": "كيف حالك؟ :سامي\nلا أنام جيدا :ليلى\nمنذ متى؟ :سامي\nمنذ مايو :ليلى",
    "hebrew_behind": "מה שלומך :דנה\nאני לא ישן :יוסי\nממתי :דנה\nממאי :יוסי",
    "speaker_at_the_end": (
        f"[00:00.000 --> 00:04.000] {STRANGE} [SPEAKER_00]\n"
        f"[00:04.000 --> 00:05.000] {OWN} [SPEAKER_01]"
    ),
    "speaker_before_the_time": (
        f"(SPEAKER_00) [0.00s -> 4.00s] {STRANGE}\n(SPEAKER_01) [4.00s -> 5.00s] {OWN}"
    ),
    "speaker_in_the_middle": f"0.00 4.00 SPEAKER_00 {STRANGE}\n4.00 5.00 SPEAKER_01 {OWN}",
    "times_alone": f"[00:00.000 --> 00:04.000] {STRANGE}\n[00:04.000 --> 00:05.000] {OWN}",
    "long_labels": (
        f"The nice young lady from the ward on the second floor: {STRANGE}\n"
        f"The old man who lay in the bed next to the door: {OWN}\n"
        f"The nice young lady from the ward on the second floor: {_ASKED}"
    ),
    "letters": f"P: {STRANGE}\nC: {OWN}\nP: {_ASKED}\nC: {MORE}",
    "letter_and_name": f"P: {STRANGE}\nTom: {OWN}\nP: {_ASKED}",
    "one_line": f"Anna: {STRANGE} Tom: {OWN} Anna: {_ASKED} Tom: {MORE}",
    "one_line_of_known": f"Hello. Interviewer: {STRANGE} Participant: {OWN}",
    "questions": f"How are you today?\n\n{OWN}\n\nDo you sleep at all?\n\n{MORE}",
    "quotation_marks": f'"{STRANGE}"\n"{OWN}"\n"{_ASKED}"\n"{MORE}"',
    "guillemets": f"«{STRANGE}»\n«{OWN}»\n«{_ASKED}»\n«{MORE}»",
    "capitals": f"{STRANGE.upper()}\n{OWN}\n{_ASKED.upper()}\n{MORE}",
    "indented": f"{STRANGE}\n        {OWN}\n{_ASKED}\n        {MORE}",
    "stars": f"*{STRANGE}*\n{OWN}\n*{_ASKED}*\n{MORE}",
    "slashes": f"{STRANGE} // {OWN} // {_ASKED} // {MORE}",
    "said": f"“{STRANGE}” said Anna.\n“{OWN}” said Tom.\n“{_ASKED}” said Anna.",
    "lower_case_initials": f"a) {STRANGE}\nb) {OWN}\na) {_ASKED}\nb) {MORE}",
    "emoji": f"👩 {STRANGE}\n🧔 {OWN}\n👩 {_ASKED}\n🧔 {MORE}",
    "hashes": f"#1 {STRANGE}\n#2 {OWN}\n#1 {_ASKED}\n#2 {MORE}",
    "at_signs": f"@anna {STRANGE}\n@tom {OWN}\n@anna {_ASKED}\n@tom {MORE}",
    "latex": f"\\textbf{{Anna}} {STRANGE}\n\\textbf{{Tom}} {OWN}\n\\textbf{{Anna}} {_ASKED}",
    "yaml": f"- who: anna\n  said: {STRANGE}\n- who: tom\n  said: {OWN}",
}
"""All that these hold is read only where somebody says whose words are whose."""

WITHIN: Final = {
    "bbcode": f"[b]Anna[/b] {STRANGE}",
    "html": f"<p>{STRANGE}</p>",
    "xml": f'<turn speaker="Anna">{STRANGE}</turn>',
    "mail": f"> {STRANGE}",
    "wrote": f"On Monday, Anna Schmidt wrote:\n{STRANGE}",
    "long_label": f"The nice young lady from the ward on the second floor: {STRANGE}",
    "hyphens": f"- {_ASKED}\n- {STRANGE}",
    "dashes": f"— {STRANGE}",
    "change": f">> {STRANGE}",
    "speaker": f"{STRANGE} [SPEAKER_00]",
    "columns": f"{_ASKED}\t{STRANGE}",
    "emoji": f"👩 {STRANGE}",
    "footer": f"\nTranscribed by https://otter.ai {STRANGE}",
}
"""Lines within a labelled turn of the participant's that are not the participant's."""

OF_ONE: Final = {
    "prose": "I have not slept well for weeks. It began in May.\nSince then I am tired all day.",
    "long_line": "I am tired. " * 60,
    "diary_iso": "2021-05-03\nI could not sleep.\n\n2021-05-04\nI slept three hours.",
    "diary_dates": "3 May: could not sleep.\n4 May: slept three hours.\n5 May: bad again.",
    "diary_english": "May 3rd\nCould not sleep.\nMay 4th\nSlept three hours.\nMay 5th\nBad again.",
    "diary_german": "03.05.2021\nIch schlafe schlecht.\n04.05.2021\nBesser.",
    "diary_dear": "Dear Diary,\n\nToday was bad. I cried for hours.\n\nGood night.",
    "times": "07:30 got up\n08:00 no breakfast\n12:15 cried\n23:00 still awake",
    "times_with_marks": "7:30 - got up\n8:00 - no breakfast\n12:15 - cried",
    "list_of_hyphens": "What troubles me:\n- cannot sleep\n- no appetite\n- tired all day",
    "list_of_bullets": "• cannot sleep\n• no appetite\n• tired all day",
    "list_of_numbers": "1. cannot sleep\n2. no appetite\n3. tired all day",
    "list_of_stars": "* cannot sleep\n* no appetite\n* tired",
    "recipe": "Flour: 200 g\nSugar: 100 g\nButter: 50 g\n\nI baked it, but I had no appetite.",
    "medicines": "Sertraline: 50 mg\nMirtazapine: 15 mg\nZopiclone: 7.5 mg\nI still cannot sleep.",
    "poem": (
        "The night is long,\nThe night is cold,\nI lie awake,\nAnd I am old.\n\n"
        "The day is grey,\nThe day is long,\nI do not know,\nWhat I did wrong."
    ),
    "poem_of_repeats": "Rain on the roof\nRain on the road\nRain in my head\nI carry the load",
    "poem_of_questions": "Who am I now?\nWhere did I go?\nWhy can I not sleep?\nI do not know.",
    "letter": (
        "Dear Dr. Smith,\n\nI write because I cannot sleep.\nI am tired all day.\n\n"
        "Yours sincerely,\nAnna Schmidt"
    ),
    "letter_to_a_friend": ("Dear Tom,\n\nI am not well. I cannot sleep.\n\nLove,\nAnna"),
    "letter_german": "Liebe Anna,\n\nich schlafe schlecht.\n\nViele Grüße\nTom",
    "postscript": "I feel low.\n\nAnna\n\nP.S.: I forgot: I do not eat, either.",
    "quotes_within": 'My wife said "you never sleep" and I said "leave me alone".\nThen I cried.',
    "speech_within": 'Tom asked: "How are you?"\nI lied to him.\nHe said: "You look tired."',
    "address": "Anna Schmidt\nMain Street 3\nSpringfield\n\nI cannot sleep and I do not eat.",
    "form": "Name: Anna\nAge: 34\nSleep: bad\nAppetite: none\nMood: low",
    "form_of_sentences": "Sleep: I wake at four.\nAppetite: I eat nothing.\nMood: I cry a lot.",
    "headings": "# My week\n\nI slept badly.\n\n## My work\n\nI could not go.",
    "headings_underlined": "My week\n=======\nI slept badly.\n\nMy work\n-------\nI could not go.",
    "bold": "I am **very** tired and I *cannot* sleep.\nI am **so** sad.",
    "sounds": "[sighs] I am tired.\n[pause] I do not know.\n(laughs) Well.",
    "one_colon": "One thing matters: sleep.\nI have none.",
    "colons": "I know one thing: I am tired.\nAnd another: nobody helps.\nSo what: I go on.",
    "lower_case": "i dont sleep\ni dont eat\ni dont know\nnothing helps",
    "starts_alike": "I wake at four.\nI lie there.\nI think of work.\nI get up.\nI cry.",
    "starts_with_names": "Anna left me in May.\nAnna took the dog.\nI cannot sleep since then.",
    "chinese": "我睡不着。\n我很累。\n没有胃口。",
    "arabic": "لا أنام جيدا.\nأنا متعب كل يوم.\nلا شهية لي.",
    "short": "I am tired.",
    "paragraphs": "I am tired.\n\nI do not eat.\n\nI do not sleep.\n\nI cry.",
    "indented": "    I am tired.\n    I do not eat.\n\n    I do not sleep.",
    "web": "I read https://example.org/sleep: nothing helps.\nSee http://example.org.",
    "scores": "Monday 3/10\nTuesday 4/10\nWednesday 2/10\nI am worse than last week.",
    "goals": "Goal 1: sleep\nGoal 2: eat\nGoal 3: call Tom",
    "asides": "I sleep (four hours at most) and I work (too much).\nI am tired <3.",
}
"""All of these are one person's own words, and nothing in them says otherwise."""
