"""Makes what masks the secrets of a process: its environment's, and the project's rules.

On the start-up path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sidecar.cassette.redaction.known_values import MIN_CHARS
from sidecar.cassette.redaction.names import secret_environment
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.errors import UsageError
from sidecar.store.salt import masking_salt
from sidecar.store.settings import Rules


def masks_for(
    home: str,
    environ: Mapping[str, str],
    rules: Rules,
    values: Iterable[str] = (),
) -> Redactor:
    """Make the redactor of a journal.

    Args:
        home: The folder of the journal, whose key is used; empty for no key, where what would
            be masked is only told.
        environ: Variables; those that are secrets by their names, or by the rules, are masked.
        rules: What else is masked.
        values: More values that are secrets.

    Raises:
        JournalError: If the key can be neither read nor made.
        UsageError: If a pattern is no regular expression.
    """
    named = (environ[name] for name in rules.environment if environ.get(name))
    known = (*secret_environment(environ), *named, *values)
    salt = masking_salt(home) if home else b""
    return Redactor(salt, known_values=known, key_names=rules.keys, patterns=rules.patterns)


def value_of(name: str, environ: Mapping[str, str]) -> str:
    """Return the secret that a variable holds.

    Raises:
        UsageError: If it holds none that could be looked for.
    """
    value = environ.get(name, "")
    if not value:
        raise UsageError(
            f"the variable {name} is not set, so its value cannot be looked for",
            hint=f"set it for this one command: read -rs {name} && export {name}",
        )
    if len(value) < MIN_CHARS:
        raise UsageError(
            f"the variable {name} has fewer than {MIN_CHARS} characters, so its value cannot be "
            "looked for",
            hint="name what it stands under with --key, or what is around it with --pattern",
        )
    return value
