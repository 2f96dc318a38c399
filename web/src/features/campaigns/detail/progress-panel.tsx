/** How far a campaign is, as the server tells it. */

import { Progress as Bar, Text, Tooltip } from "@mantine/core";
import { Figure, Figures } from "../../../components/layout/fact";
import { Panel } from "../../../components/layout/panel";
import { outcomeColor } from "../../../lib/format/colors";
import { formatCount, humanize } from "../../../lib/format/format";
import type { Campaign, Progress } from "../api";
import classes from "./progress.module.css";

export function ProgressPanel({ campaign, progress }: { campaign: Campaign; progress: Progress }) {
  const outcomes = Object.entries(progress.outcomes)
    .filter(([, contacts]) => contacts > 0)
    .sort(([, a], [, b]) => b - a);
  const share = (contacts: number) => (progress.total_contacts === 0 ? 0 : (contacts / progress.total_contacts) * 100);
  const reached =
    progress.completed === 0
      ? undefined
      : `${Math.round((progress.answered / progress.completed) * 100)}% of those done`;
  return (
    <Panel
      title="Progress"
      right={
        <Text fz="sm" c="dimmed" aria-live="polite">
          {campaign.status === "running"
            ? `${formatCount(progress.in_progress)} calling`
            : `${Math.round(progress.progress_percentage)}% done`}
        </Text>
      }
    >
      <div className={classes.body}>
        <Figures>
          <Figure
            name="Done"
            value={formatCount(progress.completed)}
            note={`of ${formatCount(progress.total_contacts)}`}
          />
          <Figure name="Calling" value={formatCount(progress.in_progress)} />
          <Figure name="Waiting" value={formatCount(progress.pending)} />
          <Figure name="Answered" value={formatCount(progress.answered)} note={reached} />
          <Figure name="Called" value={formatCount(progress.dialled)} note="at least once" />
        </Figures>
        <Bar.Root size={18} radius="sm" aria-label="Outcomes">
          {outcomes.map(([outcome, contacts]) => (
            <Tooltip key={outcome} label={`${humanize(outcome)}: ${formatCount(contacts)}`}>
              <Bar.Section
                value={share(contacts)}
                color={outcomeColor(outcome)}
                aria-label={`${humanize(outcome)}: ${contacts}`}
              />
            </Tooltip>
          ))}
          <Bar.Section
            value={share(progress.in_progress)}
            color="var(--mantine-color-brand-4)"
            striped
            animated
            aria-label={`Calling: ${progress.in_progress}`}
          />
        </Bar.Root>
        {outcomes.length > 0 && (
          <ul className={classes.legend}>
            {outcomes.map(([outcome, contacts]) => (
              <li key={outcome}>
                <i style={{ background: outcomeColor(outcome) }} />
                {humanize(outcome)} <b>{formatCount(contacts)}</b>
              </li>
            ))}
          </ul>
        )}
      </div>
    </Panel>
  );
}
