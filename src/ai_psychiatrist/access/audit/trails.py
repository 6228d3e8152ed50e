"""All trails of an installation: one for each tenant, and one for whoever has none."""

import re
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from ai_psychiatrist.access.audit.check import Checked, Fault, Finding, check_rows
from ai_psychiatrist.access.audit.entry import Action, Entry
from ai_psychiatrist.access.audit.errors import AuditUnusable
from ai_psychiatrist.access.audit.head import Head, HeadFile, HeadForged
from ai_psychiatrist.access.audit.seals import Seals
from ai_psychiatrist.access.audit.trail import AuditTrail
from ai_psychiatrist.access.clock import utc_now
from ai_psychiatrist.domain.access import TENANT_CURE, is_tenant
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.digests import KEY_NAME, load_installation_key
from ai_psychiatrist.infrastructure.given_files import reason_of
from ai_psychiatrist.infrastructure.private_files import STATE_DIR_CURE

NO_TENANT: Final = "_nobody"
"""Of what is done before anybody is known, such as a login that is refused."""

_ACTOR: Final = re.compile(r"[A-Za-z0-9:_.-]{1,128}")
_ENDING: Final = ".sqlite"


@dataclass(slots=True, kw_only=True)
class Trails:
    """The trails below a state folder. Blocking; every method raises `AuditUnusable`."""

    state_dir: Path
    now: Callable[[], datetime] = utc_now
    _opened: dict[str, AuditTrail] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def record(
        self, tenant: str, *, actor: str, action: Action, outcome: str, record_id: str = ""
    ) -> Head:
        """Add a row to a tenant's trail; it is on the disk when this returns."""
        trail = self._trail(tenant)
        return trail.append(
            Entry(
                at=self.now().astimezone(UTC).isoformat(timespec="milliseconds"),
                # Ids are ours; whatever else it should be does not get into the trail.
                actor=actor if _ACTOR.fullmatch(actor) else trail.seals.name_of(actor),
                action=action,
                object=trail.seals.name_of(record_id) if record_id else "",
                outcome=outcome,
            )
        )

    def tenants(self) -> list[str]:
        """Return whose trails there are, those included of which a head alone is left."""
        files = [*self._folder.glob(f"*{_ENDING}"), *self._heads.glob("*.head")]
        return sorted({path.stem for path in files if _has_trail(path.stem)})

    def require_whole(self) -> None:
        """Raise `AuditUnusable` where a tenant's trail takes no row."""
        for tenant in self.tenants():
            if tenant != NO_TENANT:
                with closing(self.reading(tenant)) as trail:
                    trail.require_whole()

    def reading(self, tenant: str) -> AuditTrail:
        """Open a trail to read it; the caller closes it."""
        path = self._folder / f"{_checked(tenant)}{_ENDING}"
        if not path.exists():
            msg = "there is no audit trail of this tenant"
            raise AuditUnusable(msg)
        return AuditTrail(path, self._head_file(tenant), is_read_only=True)

    def head(self, tenant: str) -> Head | None:
        """Return the head of a trail, `None` before its first row."""
        return self._head_file(_checked(tenant)).read()

    def check(self, tenant: str, *, noted: tuple[Head, ...] = ()) -> Checked:
        """Check a whole trail, as far as it can be read. `noted`: heads that were kept elsewhere.

        Raises `AuditUnusable` where there is no key to check any trail with.
        """
        head_file = self._head_file(_checked(tenant))
        more: list[Finding] = []
        try:
            head = head_file.read()
        except AuditUnusable as error:
            head = None
            is_forged = isinstance(error, HeadForged)
            fault = Fault.HEAD_FORGED if is_forged else Fault.HEAD_UNREADABLE
            reason = "" if is_forged else str(error)
            more.append(Finding(fault=fault, first=0, last=0, reason=reason))
        heads = tuple(one for one in (head, *noted) if one is not None)
        try:
            checked = self._checked_rows(tenant, head_file.seals, heads)
        except AuditUnusable as error:
            unreadable = Finding(fault=Fault.UNREADABLE, first=0, last=0, reason=str(error))
            return Checked(end=None, findings=(unreadable, *more))
        last = 0 if checked.end is None else checked.end.n
        if head is None and not more and last:
            more.append(Finding(fault=Fault.HEAD_MISSING, first=last, last=last))
        return Checked(
            end=checked.end,
            findings=(*checked.findings, *more),
            unanswered=max(0, last - (last if head is None else head.n)),
        )

    def close(self) -> None:
        """Close all that was opened."""
        with self._lock:
            while self._opened:
                self._opened.popitem()[1].close()

    @property
    def _folder(self) -> Path:
        return self.state_dir / "audit"

    @property
    def _heads(self) -> Path:
        return self.state_dir / "audit-heads"

    def _trail(self, tenant: str) -> AuditTrail:
        with self._lock:
            if tenant not in self._opened:
                path = self._folder / f"{_checked(tenant)}{_ENDING}"
                self._opened[tenant] = AuditTrail(path, self._head_file(tenant))
            return self._opened[tenant]

    def _checked_rows(self, tenant: str, seals: Seals, heads: tuple[Head, ...]) -> Checked:
        if not (self._folder / f"{tenant}{_ENDING}").exists():
            return check_rows((), seals, heads)
        with closing(self.reading(tenant)) as trail:
            return check_rows(trail.rows(), seals, heads)

    def _head_file(self, tenant: str) -> HeadFile:
        seals = Seals(tenant=tenant, key=self._key())
        return HeadFile(path=self._heads / f"{tenant}.head", seals=seals)

    def _key(self) -> bytes:
        try:
            return load_installation_key(self.state_dir / KEY_NAME)
        except OSError as error:
            reason = f"{reason_of(error)}; {STATE_DIR_CURE}"
            msg = f"the key of the installation cannot be read or kept: {reason}"
            raise AuditUnusable(msg) from None
        except ConfigurationError as error:
            msg = f"the key of the installation cannot be used: {error}"
            raise AuditUnusable(msg) from None


def _has_trail(name: str) -> bool:
    return name == NO_TENANT or is_tenant(name)


def _checked(tenant: str) -> str:
    if not _has_trail(tenant):
        raise AuditUnusable(TENANT_CURE)
    return tenant
