"""What ``offhook --help`` says of each command, without importing it: together they take seconds."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class CommandSummary:
    """``module`` is in this package and registers the command; ``help`` is the first paragraph of its own help."""

    module: str
    help: str


COMMANDS: Final = {
    "call": CommandSummary(
        "call",
        "Place a call, follow the conversation, and print the transcript, outcome and latency.",
    ),
    "doctor": CommandSummary(
        "doctor",
        "Check this installation. The exit code is 0 if Offhook can run and 1 if something it needs is missing.",
    ),
    "evidence": CommandSummary(
        "evidence",
        "Collect what is known about a run in one JSON file: its placement, checks, recording, carrier "
        "and audit entries.",
    ),
    "import": CommandSummary(
        "import_configuration",
        "Import a model configuration. Flat keys (format 1) are stored as they are until they are migrated.",
    ),
    "migrate": CommandSummary("migrate", "Update the database to this version's schema."),
    "nodes": CommandSummary(
        "nodes",
        "List the processes of this installation (where they run, their calls, and which are draining or lost) "
        "and the machines on which recordings wait for upload.",
    ),
    "replay": CommandSummary(
        "replay",
        "Replay calls from their journals, without calling models or tools. Nothing is stored.",
    ),
    "restored": CommandSummary(
        "migrate",
        "Continue the numbers of a restored database beyond those that were given out after its backup.",
    ),
    "sample": CommandSummary(
        "sample",
        "Record a sample call of an agent with a simulated caller; `serve` does it once, at its first start.",
    ),
    "serve": CommandSummary(
        "serve",
        "Start Offhook: API, voice and web pages in one process, with a job worker and the embedded database.",
    ),
    "sign-in-link": CommandSummary(
        "sign_in_links",
        "Print a link that signs a person in once, within 24 hours. Their earlier links stop working.",
    ),
    "reset-second-factor": CommandSummary(
        "sign_in_links",
        "Turn off two-step sign-in for a person who lost their device and recovery codes. Their sessions end.",
    ),
    "signups": CommandSummary(
        "sign_in_links",
        "List account requests. Approve one with `offhook sign-in-link EMAIL`.",
    ),
    "test": CommandSummary(
        "test",
        "Play an agent's scenarios on virtual time, offline unless --answers says otherwise. The same "
        "seed gives the same hash, except with --answers live.",
    ),
    "worker": CommandSummary(
        "worker",
        "Run background jobs. `serve` starts one worker; start more on any machine that can reach the database.",
    ),
    "audit": CommandSummary("audit", "Check the audit log and its hash chains."),
    "campaign": CommandSummary("campaign", "Check campaigns."),
    "credits": CommandSummary("credits", "Manage an organization's prepaid balance."),
    "encryption": CommandSummary("encryption", "Manage the keys of encrypted recordings."),
    "jobs": CommandSummary("jobs", "List and retry background jobs that used up their attempts."),
    "keys": CommandSummary("keys", "Manage an organization's API keys."),
    "lab": CommandSummary("lab", "Emulators of vendors, for developing without an account."),
    "privacy": CommandSummary(
        "privacy",
        "Erase or export everything about a phone number; list deleted organizations.",
    ),
    "storage": CommandSummary("storage", "Manage where the installation keeps its files."),
    "superuser": CommandSummary("superuser", "Manage the people who administer this installation."),
    "voices": CommandSummary("voices", "Manage voice packs: recognizers and voices that run on this machine."),
}
