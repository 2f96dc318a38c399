/** The model that hears the caller and speaks itself, if the organization has one. */

import { Alert, Button, Group, Stack, Switch, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Panel } from "../../../components/layout/panel";
import { type Chosen, KIND_TITLES, type Service, type Vendor, withProvider } from "./api";
import { ServiceFields } from "./service-fields";

interface RealtimePanelProps {
  chosen: Chosen;
  providers: Vendor[];
  isReadOnly: boolean;
  onChange: (chosen: Chosen) => void;
  errorAt: (field: string) => string | undefined;
  /** What the vendor answered, beside the title and as a sentence. */
  result: ReactNode;
  problem: string | undefined;
}

export function RealtimePanel(props: RealtimePanelProps) {
  const { chosen, providers, isReadOnly, onChange, errorAt, result, problem } = props;
  const service = chosen.realtime;
  const first = providers[0];
  const remove = () => {
    const { realtime: _, is_realtime: __, ...rest } = chosen;
    onChange(rest);
  };
  return (
    <Panel title={KIND_TITLES.realtime} right={result}>
      <Stack p="lg" gap="md">
        <Text c="dimmed" fz="sm" maw={720}>
          Hears the caller and answers in its own voice. The voice above says fixed sentences, speech recognition writes
          the transcript, and if the model fails, the models above take over the call.
        </Text>
        {problem !== undefined && (
          <Alert color="red" variant="light" py="xs">
            {problem}
          </Alert>
        )}
        {service === undefined ? (
          <Text fz="sm">None. Calls are answered by the models above.</Text>
        ) : (
          <ChosenModel service={service} {...{ chosen, providers, isReadOnly, onChange, errorAt }} />
        )}
        {!isReadOnly && (
          <Group>
            {service !== undefined ? (
              <Button size="compact-sm" variant="subtle" color="red" onClick={remove}>
                Remove speech-to-speech model
              </Button>
            ) : (
              first !== undefined && (
                <Button
                  size="compact-sm"
                  variant="subtle"
                  onClick={() => onChange({ ...chosen, realtime: withProvider(first.provider), is_realtime: true })}
                >
                  Add a speech-to-speech model
                </Button>
              )
            )}
          </Group>
        )}
      </Stack>
    </Panel>
  );
}

type ChosenModelProps = Pick<RealtimePanelProps, "chosen" | "providers" | "isReadOnly" | "onChange" | "errorAt"> & {
  service: Service;
};

function ChosenModel({ service, chosen, providers, isReadOnly, onChange, errorAt }: ChosenModelProps) {
  return (
    <>
      <Switch
        label="Use for calls"
        description="When off, only agents that select it use it."
        checked={chosen.is_realtime !== false}
        disabled={isReadOnly}
        onChange={(event) => onChange({ ...chosen, is_realtime: event.currentTarget.checked })}
      />
      <ServiceFields
        kind="realtime"
        service={service}
        providers={providers}
        isReadOnly={isReadOnly}
        onChange={(realtime) => onChange({ ...chosen, realtime })}
        errorAt={errorAt}
      />
      <Text c="dimmed" fz="sm" maw={720}>
        These calls cannot be replayed with another version. Try the model with your own account before you use it for
        real calls.
      </Text>
    </>
  );
}
