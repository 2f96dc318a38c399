/** A campaign in three steps: who, when and how, and a last look. */

import { Anchor, Button, Group, Stack, Stepper, Text } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { FormProblem } from "../../../components/forms/dialog";
import { LeaveQuestion } from "../../../components/forms/leave-question";
import { Fact } from "../../../components/layout/fact";
import { Empty, Page } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { usePermissions, useOrganizationContext } from "../../../lib/organization/organization-context";
import { ApiError, fieldErrors, formError } from "../../../lib/api/errors";
import { formatCount, formatMoney } from "../../../lib/format/format";
import type { WallTime } from "../../../lib/format/zoned-time";
import { useAgentChoices } from "../../../lib/organization/agent-names";
import { useClickGuard } from "../../../lib/ui/use-click-guard";
import { useCreateCampaign } from "../api";
import { AccountFact } from "../rules/account-choice";
import { useCallingAgents } from "./calling-agents";
import type { Contacts } from "./contact-file-field";
import { needsPhoneColumn } from "./contacts-csv";
import { ContactsStep } from "./contacts-step";
import { RowProblems } from "./row-problems";
import { bodyOf, FIRST_RULES, problemOf, RULE_FIELDS, RULE_LABELS, type Rules } from "../rules/draft";
import classes from "./new-campaign.module.css";
import { RulesForm } from "../rules/rules-form";
import { describeDestinations, describeHours, describeRetries, describeVoicemail } from "../rules/rule-descriptions";
import { StartPanel } from "../start/start-fields";
import { startProblem, startsAtOf, useStartZone } from "../start/start-time";
import { useWizardSteps } from "./wizard-steps";

const FIRST_STEP = ["name", "workflow_id", "contacts_file_key"];
const SECOND_STEP: readonly string[] = RULE_FIELDS;
const FIELDS = [...FIRST_STEP, ...SECOND_STEP, "starts_at"];
const LABELS = { ...RULE_LABELS, contacts_file_key: "Contacts", starts_at: "Start", workflow_id: "Agent" };

export function NewCampaignPage() {
  const where = useOrganizationContext();
  const permissions = usePermissions();
  return (
    <Page
      title="New campaign"
      back={
        <Anchor fz="sm" c="dimmed" renderRoot={(props) => <Link to="/campaigns" {...props} />}>
          ← Campaigns
        </Anchor>
      }
    >
      {where.data && !permissions.write ? (
        <Empty title="You have read-only access">Ask an admin for the member role to create campaigns.</Empty>
      ) : (
        <Steps />
      )}
    </Page>
  );
}

function Steps() {
  const [name, setName] = useState("");
  const [agentId, setAgentId] = useState<string | null>(null);
  const [contacts, setContacts] = useState<Contacts | null>(null);
  const [rules, setRules] = useState<Rules>(FIRST_RULES);
  const [start, setStart] = useState<WallTime | null>(null);
  const zone = useStartZone(rules.hasHours ? rules.timezone : undefined);
  const agents = useCallingAgents();
  const create = useCreateCampaign();
  const isCreated = useRef(false);
  const navigate = useNavigate();
  const clicks = useClickGuard();
  const errors: Partial<Record<string, string>> = fieldErrors(create.error, FIELDS, LABELS);
  const isAgentReady = agentId !== null && !agents.some((agent) => agent.value === agentId && !agent.isPublished);
  const isFirstDone = name.trim() !== "" && isAgentReady && contacts?.fileKey != null;
  const { step, goTo } = useWizardSteps(isFirstDone);
  const ruleProblem = problemOf(rules);

  const submit = () => {
    if (agentId === null || contacts?.fileKey == null) return;
    create.mutate(
      {
        name,
        workflow_id: Number(agentId),
        contacts_file_key: contacts.fileKey,
        ...bodyOf(rules),
        ...startOf(start, zone),
      },
      {
        onSuccess: ({ id }) => {
          isCreated.current = true;
          void navigate({ to: "/campaigns/$campaignId", params: { campaignId: id }, replace: true });
        },
        onError: (error) => {
          const wrong: Partial<Record<string, string>> = fieldErrors(error, FIELDS, LABELS);
          if (error instanceof ApiError && error.rows.length > 0) goTo(0);
          else if (FIRST_STEP.some((field) => wrong[field])) goTo(0);
          else if (SECOND_STEP.some((field) => wrong[field])) goTo(1);
        },
      },
    );
  };
  const isUnsaved = () =>
    !isCreated.current && (name !== "" || agentId !== null || contacts !== null || rules !== FIRST_RULES);
  const rowErrors = create.error instanceof ApiError && create.error.rows.length > 0 ? create.error : null;
  return (
    <Stack gap="lg">
      <LeaveQuestion title="Leave this campaign?" isUnsaved={isUnsaved} />
      <Stepper
        active={step}
        onStepClick={(next) => (next < step || isFirstDone) && goTo(next)}
        size="sm"
        wrap={false}
        classNames={{ stepDescription: classes.note, separator: classes.line }}
      >
        <Stepper.Step label="Contacts" description="List and agent" />
        <Stepper.Step label="Rules" description="When and how" />
        <Stepper.Step label="Review" description="Before the dry run" />
      </Stepper>
      {step === 0 && rowErrors && (
        <Panel title="The file was rejected">
          <div className={classes.problems}>
            <RowProblems problems={rowErrors.rows} total={rowErrors.totalRows} />
          </div>
        </Panel>
      )}
      {step === 0 && (
        <ContactsStep
          name={name}
          agentId={agentId}
          agents={agents}
          contacts={contacts}
          onName={setName}
          onAgent={setAgentId}
          onContacts={(next) => {
            create.reset();
            setContacts(next);
          }}
          errorAt={(field) => errors[field]}
        />
      )}
      {step === 1 && <RulesForm rules={rules} onChange={setRules} errorAt={(field) => errors[field]} />}
      {step === 2 && <LastLook name={name} agentId={agentId} contacts={contacts} rules={rules} />}
      {step === 2 && <StartPanel start={start} zone={zone} onChange={setStart} error={errors["starts_at"]} />}
      {step === 1 && <FormProblem words={ruleProblem} />}
      {!rowErrors && <FormProblem words={formError(create.error, FIELDS, LABELS)} />}
      <Group justify="space-between">
        <Button variant="default" onClick={() => goTo(step - 1)} disabled={step === 0}>
          Back
        </Button>
        {step === 0 && !isFirstDone && (
          <Text fz="sm" c="dimmed" ml="auto">
            Still needed: {neededOf(name, agentId, isAgentReady, contacts)}
          </Text>
        )}
        {step < 2 ? (
          <Button onClick={() => goTo(step + 1)} disabled={step === 0 ? !isFirstDone : ruleProblem !== null}>
            Next
          </Button>
        ) : (
          <Button
            onClick={() => clicks.run(submit)}
            loading={create.isPending}
            disabled={start !== null && startProblem(start, zone) !== null}
          >
            Create campaign
          </Button>
        )}
      </Group>
    </Stack>
  );
}

function startOf(start: WallTime | null, zone: string): { starts_at?: string | null } {
  return start === null ? {} : { starts_at: startsAtOf(start, zone) };
}

function neededOf(name: string, agentId: string | null, isAgentReady: boolean, contacts: Contacts | null): string {
  const file =
    contacts !== null && needsPhoneColumn(contacts.look)
      ? "the phone number column"
      : contacts !== null && contacts.look.problemCount > 0
        ? "a file without problems"
        : contacts === null
          ? "a file with contacts"
          : "the upload to finish";
  const agent = agentId === null ? "an agent" : "an agent that is published";
  return [name.trim() === "" && "a name", !isAgentReady && agent, contacts?.fileKey == null && file]
    .filter((one) => one !== false)
    .join(", ");
}

interface LastLookProps {
  name: string;
  agentId: string | null;
  contacts: Contacts | null;
  rules: Rules;
}

function LastLook({ name, agentId, contacts, rules }: LastLookProps) {
  const agent = useAgentChoices().find((choice) => choice.value === agentId);
  const { calling_hours: hours, retry_config: retry, destinations, voicemail } = bodyOf(rules);
  const others = contacts?.look.columns.filter((column) => column !== "phone_number") ?? [];
  return (
    <Panel title={name}>
      <div className={classes.facts}>
        <Fact name="Agent" value={agent?.label ?? "–"} />
        <AccountFact id={rules.accountId} />
        <Fact name="Contacts" value={formatCount(contacts?.look.rowCount ?? 0)} />
        <Fact name="Variables" value={others.length === 0 ? "Phone number only" : others.join(", ")} />
        <Fact name="Calling hours" value={describeHours(hours ?? null)} />
        <Fact name="Concurrency" value={`Up to ${rules.maxConcurrency}`} />
        <Fact name="Retries" value={describeRetries(retry ?? {})} />
        <Fact name="Destinations" value={describeDestinations(destinations ?? {})} />
        <Fact name="Voicemail" value={describeVoicemail(voicemail ?? null)} />
        <Fact name="Spend limit" value={rules.spendCap === "" ? "No limit" : formatMoney(rules.spendCap * 100)} />
      </div>
    </Panel>
  );
}
