/** One real request of a tool: the arguments that a model would give, and what came back. */

import { Alert, Button, Code, Group, Text, TextInput } from "@mantine/core";
import { type KeyboardEvent, useState } from "react";
import type { Schema } from "../../../lib/api/types";
import { formatMilliseconds } from "../../../lib/format/format";
import type { Parameter } from "./tool-draft";

interface ToolTrialProps {
  parameters: readonly Parameter[];
  isBusy: boolean;
  answer: Schema<"ToolTestResponse"> | undefined;
  onSend: (values: Record<string, string>) => void;
}

export function ToolTrial({ parameters, isBusy, answer, onSend }: ToolTrialProps) {
  const [values, setValues] = useState<Record<string, string>>({});
  const [isChecked, setIsChecked] = useState(false);
  const isMissing = ({ name, required }: Parameter) => required && (values[name] ?? "") === "";
  const send = () => {
    setIsChecked(true);
    if (isBusy || parameters.some(isMissing)) return;
    onSend(Object.fromEntries(parameters.map(({ name }) => [name, values[name] ?? ""])));
  };
  // Enter sends the request, and not the form that this may stand in.
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    send();
  };
  return (
    <>
      {parameters.map((parameter, index) => (
        <TextInput
          key={index}
          label={parameter.name}
          description={parameter.description}
          error={isChecked && isMissing(parameter) && `${parameter.name} is required.`}
          value={values[parameter.name] ?? ""}
          onKeyDown={press}
          onChange={(event) => setValues({ ...values, [parameter.name]: event.currentTarget.value })}
        />
      ))}
      <Group>
        <Button onClick={send} loading={isBusy} variant="light">
          Send request
        </Button>
      </Group>
      {answer && <Answer answer={answer} />}
    </>
  );
}

function Answer({ answer }: { answer: Schema<"ToolTestResponse"> }) {
  const hasWorked = answer.status === "success";
  return (
    <>
      <Alert
        color={hasWorked ? "brand" : "red"}
        variant="light"
        title={
          hasWorked
            ? `Responded with ${answer.status_code} in ${formatMilliseconds(answer.duration_ms)}`
            : "The request failed"
        }
      >
        {answer.error}
        {answer.hint && <Text fz="sm">{answer.hint}</Text>}
        <Text fz="sm">
          {answer.request_method} {answer.request_url}
        </Text>
      </Alert>
      {answer.data !== null && answer.data !== undefined && (
        <Code block tabIndex={0} style={{ maxHeight: 300 }}>
          {JSON.stringify(answer.data, null, 2)}
        </Code>
      )}
    </>
  );
}
