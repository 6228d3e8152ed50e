"""Where a provider caches prefixes, an assessment's first call goes before all others."""

import asyncio

import pytest

from tests.fakes.messages_api import MessagesReply, MessagesRequest, MessagesServer
from tests.fakes.replies import good_text

from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.assessment import Assessment, AssessmentStatus
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.wiring import open_services
