/** Finished agents to start from: a gallery, and one of them before it is created. */

import { Button, Group, Skeleton, Stack, Text, TextInput, Title } from "@mantine/core";
import { WifiOff } from "lucide-react";
import { type SubmitEvent, useState } from "react";
import { Problem } from "../../components/feedback/problem";
import { fieldErrors, formError } from "../../lib/api/errors";
import type { Template } from "../../lib/api/types";
import { pluralize } from "../../lib/format/format";
import { useCreateFromTemplate, useTemplates } from "./api";
import { TemplatePicture } from "./template-picture";
import classes from "./templates.module.css";

export function TemplateGallery({ onCreated }: { onCreated: (agent: { id: number }) => void }) {
  const templates = useTemplates();
  const [chosenId, setChosenId] = useState<string | null>(null);
  const chosen = templates.data?.find((template) => template.id === chosenId);
  if (templates.isError)
    return (
      <Problem
        title="The templates could not be loaded"
        error={templates.error}
        onRetry={() => void templates.refetch()}
      />
    );
  if (chosen !== undefined)
    return <Chosen key={chosen.id} template={chosen} onBack={() => setChosenId(null)} onCreated={onCreated} />;
  return (
    <ul className={classes.grid} aria-label="Templates" aria-busy={templates.isPending}>
      {templates.isPending &&
        [1, 2, 3].map((key) => (
          <li key={key}>
            <Skeleton h={220} radius={12} />
          </li>
        ))}
      {templates.data?.map((template) => (
        <li key={template.id}>
          <button type="button" className={classes.card} onClick={() => setChosenId(template.id)}>
            <span className={classes.frame}>
              <TemplatePicture template={template} />
            </span>
            <span className={classes.text}>
              <span className={classes.title}>{template.title}</span>
              <span className={classes.summary}>{template.summary}</span>
              <Marks template={template} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Marks({ template }: { template: Template }) {
  return (
    <span className={classes.marks}>
      {template.works_offline && (
        <span className={classes.offline}>
          <WifiOff size={13} aria-hidden="true" />
          Works offline
        </span>
      )}
      <span>{template.call_type === "inbound" ? "Answers calls" : "Places calls"}</span>
    </span>
  );
}

interface ChosenProps {
  template: Template;
  onBack: () => void;
  onCreated: (agent: { id: number }) => void;
}

function Chosen({ template, onBack, onCreated }: ChosenProps) {
  const [name, setName] = useState(template.agent_name);
  const create = useCreateFromTemplate();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    create.mutate({ templateId: template.id, name: name.trim() }, { onSuccess: onCreated });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <span className={`${classes.frame} ${classes.big}`}>
          <TemplatePicture template={template} />
        </span>
        <div>
          <Title order={3} fz="lg">
            {template.title}
          </Title>
          <Text fz="sm" c="dimmed" mt={4}>
            {template.summary}
          </Text>
          <Marks template={template} />
        </div>
        <ul className={classes.facts}>
          <li>{pluralize(template.nodes.length, "step")}, ready to talk to</li>
          {template.documents.map((document) => (
            <li key={document}>Adds the document “{document}” to your knowledge base</li>
          ))}
          {template.tools.map((tool) => (
            <li key={tool}>Adds the tool “{tool}”</li>
          ))}
        </ul>
        <Text fz="sm">
          <strong>Before real calls:</strong> {template.before_use}
        </Text>
        <TextInput
          label="Name"
          required
          maxLength={200}
          value={name}
          error={fieldErrors(create.error, ["name"]).name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {formError(create.error, ["name"]) !== null && <Problem error={create.error} />}
        <Group justify="space-between">
          <Button variant="subtle" onClick={onBack}>
            All templates
          </Button>
          <Button type="submit" loading={create.isPending} disabled={name.trim() === ""} data-autofocus>
            Create agent
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
