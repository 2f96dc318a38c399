/** Whether, when and how often a contact is called again. */

import { Checkbox, Group, NumberInput, Switch, Text } from "@mantine/core";
import { Panel } from "../../../components/layout/panel";
import { MAX_RETRIES, type Rules } from "./draft";
import { FieldError, numberOf, Padded } from "./rule-panels";

interface RetryRulesProps {
  rules: Rules;
  onChange: (rules: Rules) => void;
  error: string | undefined;
}

export function RetryRules({ rules, onChange, error }: RetryRulesProps) {
  const set = <Name extends keyof Rules>(name: Name, value: Rules[Name]) => onChange({ ...rules, [name]: value });
  return (
    <Panel
      title="Retries"
      right={
        <Switch
          aria-label="Retry unanswered calls"
          checked={rules.hasRetries}
          onChange={(event) => set("hasRetries", event.currentTarget.checked)}
        />
      }
    >
      <Padded>
        {rules.hasRetries ? (
          <Group align="flex-start" gap="lg">
            <NumberInput
              label="Max retries"
              clampBehavior="none"
              min={0}
              max={MAX_RETRIES}
              allowDecimal={false}
              value={rules.maxRetries}
              onChange={(value) => set("maxRetries", numberOf(value))}
              w={110}
            />
            <NumberInput
              label="Wait (minutes)"
              clampBehavior="none"
              min={0}
              value={rules.retryMinutes}
              onChange={(value) => set("retryMinutes", numberOf(value))}
              w={150}
            />
            <Checkbox.Group
              label="Retry after"
              value={[rules.onBusy && "busy", rules.onNoAnswer && "no_answer", rules.onVoicemail && "voicemail"].filter(
                (name) => name !== false,
              )}
              onChange={(names) =>
                onChange({
                  ...rules,
                  onBusy: names.includes("busy"),
                  onNoAnswer: names.includes("no_answer"),
                  onVoicemail: names.includes("voicemail"),
                })
              }
            >
              <Group mt={10}>
                <Checkbox value="busy" label="Busy" />
                <Checkbox value="no_answer" label="No answer" />
                <Checkbox value="voicemail" label="Voicemail" />
              </Group>
            </Checkbox.Group>
          </Group>
        ) : (
          <Text fz="sm" c="dimmed">
            Each contact is called once.
          </Text>
        )}
        <FieldError words={error} />
      </Padded>
    </Panel>
  );
}
