/** One key, pasted: whose it is, what it gives, whether it works; what works is filled in below. */

import { Alert, Button, Checkbox, Group, Select, SimpleGrid, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { FormProblem } from "../../../components/forms/dialog";
import { Password } from "../../../components/forms/password";
import { Panel } from "../../../components/layout/panel";
import { formError } from "../../../lib/api/errors";
import { type Chosen, type Kind, KIND_TITLES, type Known, SERVICE_LABELS, type Service, useCheckModels } from "./api";
import { guessProvider, kindsToFill, listKeyOffers, servicesWithKey } from "./key-offers";

interface OneKeyProps {
  known: Known;
  chosen: Chosen;
  onUse: (services: Partial<Record<Kind, Service>>) => void;
}

/** Above the models that it fills in, which are saved together. */
export function OneKey(props: OneKeyProps) {
  return (
    <Panel title="One key">
      <Stack p="lg" gap="md">
        <OneKeyForm
          {...props}
          hint="Offhook tests it and fills in the models below."
          submit="Test and fill in"
          afterwards="filled in. Save to use them in new calls."
        />
      </Stack>
    </Panel>
  );
}

interface OneKeyFormProps extends OneKeyProps {
  /** What happens with the key. */
  hint: string;
  submit: string;
  /** What has become of the models that work with it, after their names. */
  afterwards: string;
}

export function OneKeyForm({ known, chosen, onUse, hint, submit, afterwards }: OneKeyFormProps) {
  const check = useCheckModels();
  const [key, setKey] = useState("");
  const [provider, setProvider] = useState<string | null>(null);
  const [kinds, setKinds] = useState<Kind[]>([]);
  const [results, setResults] = useState<Outcome[]>([]);
  const offers = listKeyOffers(known);
  const offer = offers.find((one) => one.provider === provider);
  const choose = (next: string | null) => {
    const found = offers.find((one) => one.provider === next);
    setProvider(next);
    setKinds(found ? kindsToFill(found, chosen) : []);
    setResults([]);
    check.reset();
  };
  const enter = (typed: string) => {
    const guessed = guessProvider(typed.trim(), offers);
    setKey(typed);
    setResults([]);
    check.reset();
    if (guessed !== null && guessed !== provider) choose(guessed);
  };
  const use = () => {
    if (provider === null) return;
    const services = servicesWithKey(provider, key.trim(), kinds);
    check.mutate(services, {
      onSuccess: (answer) => {
        const outcomes = kinds.map((kind) => ({ kind, ok: answer[kind].ok, message: answer[kind].message ?? null }));
        const working = outcomes.filter((one) => one.ok).map((one) => one.kind);
        setResults(outcomes);
        onUse(servicesWithKey(provider, key.trim(), working));
        if (working.length === kinds.length) setKey("");
      },
    });
  };
  return (
    <>
      <Text c="dimmed" fz="sm">
        Paste a key from a vendor such as OpenAI, Google, Groq, or Deepgram. {hint}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
        <Password
          label="Vendor key"
          autoComplete="off"
          value={key}
          disabled={check.isPending}
          onChange={(event) => enter(event.currentTarget.value)}
        />
        <Select
          label="Vendor of the key"
          placeholder="Select a vendor"
          data={offers.map((one) => ({ value: one.provider, label: one.title }))}
          value={provider}
          disabled={check.isPending}
          onChange={choose}
        />
      </SimpleGrid>
      {offer && (
        <Checkbox.Group
          label="Use it for"
          value={kinds}
          onChange={(values) => setKinds(offer.kinds.filter((kind) => values.includes(kind)))}
        >
          <Group gap="md" mt="xs">
            {offer.kinds.map((kind) => (
              <Checkbox key={kind} value={kind} label={KIND_TITLES[kind]} disabled={check.isPending} />
            ))}
          </Group>
        </Checkbox.Group>
      )}
      <Outcomes results={results} afterwards={afterwards} />
      <FormProblem words={formError(check.error, [], SERVICE_LABELS)} />
      <div>
        <Button onClick={use} loading={check.isPending} disabled={key.trim() === "" || kinds.length === 0}>
          {submit}
        </Button>
      </div>
    </>
  );
}

interface Outcome {
  kind: Kind;
  ok: boolean;
  message: string | null;
}

function Outcomes({ results, afterwards }: { results: Outcome[]; afterwards: string }) {
  const working = results.filter((one) => one.ok);
  return (
    <>
      {results
        .filter((one) => !one.ok)
        .map((one) => (
          <Alert key={one.kind} color="red" variant="light" py="xs" title={KIND_TITLES[one.kind]}>
            {one.message}
          </Alert>
        ))}
      {working.length > 0 && (
        <Alert color="green" variant="light" py="xs" title="The key works">
          {working.map((one) => KIND_TITLES[one.kind]).join(", ")} {afterwards}
        </Alert>
      )}
    </>
  );
}
