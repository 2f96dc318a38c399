/** A number of the platform in one step: a new one, or one to which an existing number is forwarded. */

import { Alert, Group, SegmentedControl, Select, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { FormDialog } from "../../components/forms/dialog";
import { CopyLine } from "../../components/forms/secret";
import { countryChoices } from "../../lib/format/countries";
import { useForm } from "../../lib/ui/use-form";
import { useAgentChoices } from "../../lib/organization/agent-names";
import { useAvailable, useQuickConnect } from "./api";
import { ForSale } from "./for-sale";

const COUNTRIES = countryChoices();
const LABELS = { phone_number: "Number", existing_number: "Your number", workflow_id: "Agent" };

interface Values {
  mode: "new" | "forward";
  country: string;
  area_code: string;
  phone_number: string;
  existing_number: string;
  workflow_id: string | null;
}

const EMPTY: Values = {
  mode: "new",
  country: "US",
  area_code: "",
  phone_number: "",
  existing_number: "",
  workflow_id: null,
};

export function QuickConnect({ onClose }: { onClose: () => void }) {
  const connect = useQuickConnect();
  const agents = useAgentChoices();
  // As they are first shown: whether numbers are simulated does not depend on the place.
  const isSale = useAvailable(EMPTY.country, EMPTY.area_code, true).data?.is_simulated === false;
  const form = useForm<Values>(EMPTY, connect.error, { labels: LABELS });
  const {
    mode,
    country,
    area_code: area,
    phone_number: chosen,
    existing_number: existing,
    workflow_id: agent,
  } = form.values;
  const [place] = useDebouncedValue({ country, area }, 400);
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
      <FormDialog title="Number added" isOpen onClose={onClose} onSubmit={onClose} submit="Done" isBusy={false} isDone>
        <CopyLine value={connect.data.phone_number} label="number" />
        {connect.data.instructions && (
          <Alert variant="light" title="One step left">
            {connect.data.instructions}
          </Alert>
        )}
        <Text fz="sm" c="dimmed">
          {connect.data.workflow_id === null
            ? "No agent answers it yet. Choose one in the list of numbers."
            : "The agent answers once it is published."}
        </Text>
      </FormDialog>
    );
  }
  // Another place has other numbers.
  const move = (name: "country" | "area_code", value: string) => {
    form.set(name, value);
    form.set("phone_number", "");
  };
  return (
    <FormDialog
      title="Get a number"
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit={mode === "forward" ? "Get forwarding number" : isSale ? "Buy number" : "Add number"}
      isBusy={connect.isPending}
      problem={form.problem}
      size="lg"
    >
      <SegmentedControl
        aria-label="Number type"
        value={mode}
        onChange={(value) => form.set("mode", value)}
        data={[
          { value: "new", label: "New number" },
          { value: "forward", label: "Use my own number" },
        ]}
      />
      {mode === "forward" && (
        <TextInput
          label="Your number"
          description="Stays with your carrier. Calls are forwarded to the new number."
          placeholder="+12015550123"
          required
          {...form.text("existing_number")}
        />
      )}
      <Group grow align="flex-start">
        <Select
          label="Country"
          description="Where the number is"
          searchable
          allowDeselect={false}
          data={COUNTRIES}
          {...form.field("country")}
          onChange={(code) => code !== null && move("country", code)}
        />
        <TextInput
          label="Area code"
          description="Optional"
          maxLength={6}
          {...form.text("area_code")}
          onChange={(event) => move("area_code", event.currentTarget.value)}
        />
      </Group>
      <ForSale
        country={place.country}
        area={place.area}
        chosen={chosen}
        onChoose={(number) => form.set("phone_number", number)}
        error={form.errorAt("phone_number")}
      />
      <Select
        label="Answered by"
        placeholder="No agent"
        clearable
        searchable
        data={agents}
        {...form.field("workflow_id")}
      />
    </FormDialog>
  );
}
