"""Writes the list of common passwords from zxcvbn's: ``pip install zxcvbn==4.5.0 && python scripts/make_common_passwords.py``.

The package is no dependency: it would cost 12 MB of memory for the words of all its lists.
"""

from importlib.metadata import distribution
from pathlib import Path

from zxcvbn.frequency_lists import FREQUENCY_LISTS  # type: ignore[import-untyped]

TARGET = Path(__file__).parents[1] / "src/offhook/orgs/sign_in/common_passwords.txt"
MIN_LENGTH = 8
DROPBOX = "Copyright (c) 2012-2016 Dan Wheeler and Dropbox, Inc."

package = distribution("zxcvbn")
(license_file,) = [file for file in package.files or [] if file.name == "LICENSE.txt"]
notice = str(license_file.read_text()).strip().splitlines()
header = [
    f"Common passwords of at least {MIN_LENGTH} characters, most common first: from the list of zxcvbn {package.version}.",
    "",
    notice[0],
    "",
    DROPBOX,
    *notice[2:],
]
passwords = [password for password in FREQUENCY_LISTS["passwords"] if len(password) >= MIN_LENGTH]
lines = [f"# {line}".rstrip() for line in header] + passwords
TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
