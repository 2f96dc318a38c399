/** Which model finds passages in documents by their meaning. */

import { Badge, Select, SimpleGrid, Text, TextInput } from "@mantine/core";
import { Panel } from "../../../components/layout/panel";
import { Password } from "../../../components/forms/password";
import type { Schema } from "../../../lib/api/types";
import { withServiceField, type Known, type Service, withProvider } from "./api";

const VENDORS: Record<string, string> = {
  builtin: "Offline, on this machine",
  openai: "OpenAI or a compatible server",
};

interface EmbeddingsPanelProps {
  /** undefined is the installation's default. */
  service: Service | undefined;
  effective: Schema<"EffectiveEmbeddings">;
  known: Known["embeddings"];
  isReadOnly: boolean;
  onChange: (service: Service) => void;
  errorAt: (field: string) => string | undefined;
}

export function EmbeddingsPanel({ service, effective, known, isReadOnly, onChange, errorAt }: EmbeddingsPanelProps) {
  const { provider, model, api_key: key, base_url: address } = service ?? withProvider(effective.provider);
  const models = known[provider] ?? [];
  const common = (name: string) => ({ disabled: isReadOnly, error: errorAt(name) });
  const set = (name: keyof Service, value: string) =>
    onChange(withServiceField(service ?? withProvider(provider), name, value));
  return (
    <Panel title="Document search" right={service === undefined && <Badge color="gray">Default</Badge>}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md" p="lg">
        <Select
          label="Vendor"
          allowDeselect={false}
          data={Object.keys(known).map((value) => ({ value, label: VENDORS[value] ?? value }))}
          value={provider}
          onChange={(next) => next && next !== provider && onChange(withProvider(next))}
          {...common("provider")}
        />
        {address === undefined ? (
          <Select
            label="Model"
            allowDeselect={false}
            data={models}
            value={model ?? models[0] ?? null}
            onChange={(next) => set("model", next ?? "")}
            {...common("model")}
          />
        ) : (
          <TextInput
            label="Model"
            placeholder={models[0] ?? ""}
            value={model ?? ""}
            onChange={(event) => set("model", event.currentTarget.value)}
            {...common("model")}
          />
        )}
        {provider !== "builtin" && (
          <>
            <Password
              label="API key"
              description={
                key?.includes("*")
                  ? "Saved. Enter a new key to replace it."
                  : "Leave empty to use the language model's key if the vendor is the same"
              }
              autoComplete="off"
              value={key ?? ""}
              onChange={(event) => set("api_key", event.currentTarget.value)}
              {...common("api_key")}
            />
            <TextInput
              label="Base URL"
              description="Only for self-hosted servers"
              placeholder="https://…/v1"
              value={address ?? ""}
              onChange={(event) => set("base_url", event.currentTarget.value)}
              {...common("base_url")}
            />
          </>
        )}
      </SimpleGrid>
      <Text fz="sm" c="dimmed" px="lg" pb="lg">
        Changing the model re-embeds all documents. Until that is done, agents search as before.
      </Text>
    </Panel>
  );
}
