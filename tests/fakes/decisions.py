"""What a decision model answers: the same probabilities to every question of a kind."""

TOLD = 0.8
LEVELS = (0.1, 0.1, 0.6, 0.2)


def decided(body: dict[str, object]) -> object:
    """Answer the questions of one request of the System One protocol."""
    questions = body["questions"]
    assert isinstance(questions, dict)
    answers = {name: _answer(question["type"]) for name, question in questions.items()}
    return {
        "model": body["model"],
        "answers": answers,
        "usage": {"input_tokens": 100, "output_tokens": 0, "total_tokens": 100},
    }


def _answer(kind: str) -> object:
    if kind == "noul":
        return {"type": "noul", "noul": TOLD}
    return {
        "type": "score",
        "score": sum(level * share for level, share in enumerate(LEVELS)),
        "confidence": max(LEVELS),
        "probabilities": {str(level): share for level, share in enumerate(LEVELS)},
    }
