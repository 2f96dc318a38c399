/** A number of the platform in one step: a new one, or one to which an existing number is forwarded. */

import { Alert, Badge, Button, Group, Radio, SegmentedControl, Select, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { FormDialog } from "../../components/dialog";
import { Loaded } from "../../components/page";
import { money } from "../../lib/format";
import { useForm } from "../../lib/form";
import { useAgentChoices } from "../../lib/names";
import { useAvailable, useQuickConnect } from "./api";

export function QuickConnect({ onClose }: { onClose: () => void }) {
  const connect = useQuickConnect();
  const agents = useAgentChoices();
  const form = useForm<{ mode: "new" | "forward"; country: string; area_code: string; phone_number: string; existing_number: string; workflow_id: string | null }>(
    { mode: "new", country: "US", area_code: "", phone_number: "", existing_number: "", workflow_id: null },
    connect.error,
  );
  const { mode, country, area_code: area, phone_number: chosen, existing_number: existing, workflow_id: agent } = form.values;
  const [searched] = useDebouncedValue(`${country}.${area}`, 400);
  const [searchedCountry = "", searchedArea = ""] = searched.split(".");
  const available = useAvailable(searchedCountry.toUpperCase(), searchedArea, /^[A-Za-z]{2}$/.test(searchedCountry));
  const submit = () =>
    connect.mutate({
      mode,
      country,
      ...(area === "" ? {} : { area_code: area }),
      ...(chosen === "" ? {} : { phone_number: chosen }),
      ...(mode === "forward" ? { existing_number: existing } : {}),
      ...(agent === null ? {} : { workflow_id: Number(agent) }),
    });
  if (connect.data) {
    return (
      <FormDialog title="It is yours" isOpen onClose={onClose} onSubmit={onClose} submit="Done" isBusy={false}>
        <Text fz={22} fw={650}>
          {connect.data.phone_number}
        </Text>
        {connect.data.instructions && <Alert variant="light">{connect.data.instructions}</Alert>}
      </FormDialog>
    );
  }
  return (
    <FormDialog title="Get a number" isOpen onClose={onClose} onSubmit={submit} submit={mode === "new" ? "Buy it" : "Get one to forward to"} isBusy={connect.isPending} problem={form.problem} size="lg">
      <SegmentedControl
        aria-label="What for"
        value={mode}
        onChange={(value) => form.set("mode", value as "new" | "forward")}
        data={[
          { value: "new", label: "A new number" },
          { value: "forward", label: "Keep mine, forward its calls" },
        ]}
      />
      {mode === "forward" && <TextInput label="Your number" placeholder="+12015550123" required {...form.text("existing_number")} />}
      <Group grow>
        <TextInput label="Country" description="Two letters" maxLength={2} {...form.text("country")} />
        <TextInput label="Area code" {...form.text("area_code")} />
      </Group>
      <Loaded query={available} what="The numbers" height={120}>
        {(data) => (
          <Radio.Group label="Number" description="None chosen: the first one that fits" {...form.field("phone_number")}>
            <Stack gap={6} mt={8}>
              {data.numbers.slice(0, 8).map((one) => (
                <Radio
                  key={one.phone_number}
                  value={one.phone_number}
                  label={
                    <Group gap={8}>
                      {one.friendly_name} {one.locality && <Text span fz="sm" c="dimmed">{one.locality}</Text>}
                      <Badge color="gray">{one.monthly_cost_cents === null ? "price unknown" : `${money(one.monthly_cost_cents)} a month`}</Badge>
                    </Group>
                  }
                />
              ))}
            </Stack>
            {data.numbers.length === 0 && <Text fz="sm">There is none there just now.</Text>}
          </Radio.Group>
        )}
      </Loaded>
      {chosen !== "" && (
        <Button size="compact-sm" variant="subtle" w="fit-content" onClick={() => form.set("phone_number", "")}>
          Any number will do
        </Button>
      )}
      <Select label="Answered by" placeholder="Nobody yet" clearable data={agents} {...form.field("workflow_id")} />
    </FormDialog>
  );
}
