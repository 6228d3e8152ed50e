"""The pages for people, and what only they need."""

from typing import Final

from ai_psychiatrist.api import (
    page_agreement,
    page_assessment,
    page_assets,
    page_cohort,
    page_login,
    page_new,
    transcript_preview,
)

ROUTERS: Final = (
    page_assets.router,
    page_login.router,
    page_cohort.router,
    page_new.router,
    page_agreement.router,
    page_assessment.router,
    transcript_preview.router,
)
