/** What a campaign came to in the words of its business: contacts by result, as shares of those who answered. */

import { Anchor, Progress as Bar, Text, Tooltip } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Figure, Figures } from "../../../components/layout/fact";
import { Panel } from "../../../components/layout/panel";
import { Problem } from "../../../components/feedback/problem";
import { resultColors } from "../../../lib/format/colors";
import { formatCount } from "../../../lib/format/format";
import { type Campaign, useCampaignResults } from "../api";
import classes from "./progress.module.css";

export function ResultsPanel({ campaign, done }: { campaign: Campaign; done: number }) {
  const results = useCampaignResults(campaign, done);
  if (results.isPending) return null;
  if (results.isError) return <Problem error={results.error} onRetry={() => void results.refetch()} />;
  const { results: counts, is_defined, answered_without_result: without } = results.data;
  if (counts.length === 0 && !is_defined) return <HowToDefine campaign={campaign} />;
  const total = counts.reduce((sum, one) => sum + one.contacts, 0);
  const answered = total + without;
  const share = (contacts: number) => `${Math.round((contacts / answered) * 100)}% of answered`;
  const colorOf = resultColors(counts.map((one) => one.name));
  const won = counts.filter((one) => one.is_success === true).reduce((sum, one) => sum + one.contacts, 0);
  return (
    <Panel
      title="Results"
      right={
        total > 0 &&
        counts.some((one) => one.is_success === true) && <Text fz="sm" c="dimmed">{`${share(won)} successful`}</Text>
      }
    >
      <div className={classes.body}>
        <Figures>
          {counts.map((one) => (
            <Figure
              key={one.name}
              name={one.name}
              value={formatCount(one.contacts)}
              note={answered === 0 ? undefined : share(one.contacts)}
            />
          ))}
          {without > 0 && <Figure name="No result" value={formatCount(without)} note={share(without)} />}
        </Figures>
        {total > 0 && (
          <Bar.Root size={18} radius="sm" aria-label="Results">
            {counts.map((one) => (
              <Tooltip key={one.name} label={`${one.name}: ${formatCount(one.contacts)}`}>
                <Bar.Section
                  value={(one.contacts / answered) * 100}
                  color={colorOf(one.name)}
                  aria-label={`${one.name}: ${one.contacts}`}
                />
              </Tooltip>
            ))}
            {without > 0 && (
              <Tooltip label={`No result: ${formatCount(without)}`}>
                <Bar.Section value={(without / answered) * 100} color="gray.4" aria-label={`No result: ${without}`} />
              </Tooltip>
            )}
          </Bar.Root>
        )}
      </div>
    </Panel>
  );
}

function HowToDefine({ campaign }: { campaign: Campaign }) {
  return (
    <Panel title="Results">
      <Text fz="sm" c="dimmed" p="md">
        To count outcomes such as booked or declined, define results in the settings of{" "}
        <Anchor
          fz="sm"
          underline="always"
          renderRoot={(props) => <Link to="/agents/$agentId" params={{ agentId: campaign.workflow_id }} {...props} />}
        >
          {campaign.workflow_name}
        </Anchor>{" "}
        and publish it. Calls that end after that are counted.
      </Text>
    </Panel>
  );
}
