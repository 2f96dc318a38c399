/** Which models think, speak and listen, and who takes over when one fails. */

import { Alert, Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { FormProblem } from "../../../components/forms/dialog";
import { Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { usePermissions } from "../../../lib/organization/organization-context";
import { fieldErrors, formError } from "../../../lib/api/errors";
import { formatMilliseconds } from "../../../lib/format/format";
import { notifySuccess, notifyError } from "../../../lib/ui/notifications";
import type { Schema } from "../../../lib/api/types";
import {
  type Chosen,
  type Kind,
  KIND_TITLES,
  KINDS,
  type Known,
  type Service,
  useCheckModels,
  useModelChoice,
  useModelDefaults,
  useSaveModels,
  type Vendor,
  withProvider,
  SERVICE_LABELS,
} from "./api";
import { EmbeddingsPanel } from "./embeddings-panel";
import { LocalServers } from "./local-servers";
import { OneKey } from "./one-key";
import { RealtimePanel } from "./realtime-panel";
import { ServiceFields } from "./service-fields";
import type { InstalledPack } from "./voice-packs/api";
import { VoicePacksPanel } from "./voice-packs/voice-packs-panel";

const FIELDS = [
  "provider",
  "model",
  "api_key",
  "base_url",
  "temperature",
  "max_tokens",
  "voice_id",
  "speed",
  "language",
] as const;

export default function ModelsSection() {
  const choice = useModelChoice();
  const defaults = useModelDefaults();
  return (
    <Loaded query={choice} what="The models" height={500}>
      {(stored) => (
        <Loaded query={defaults} what="The vendors" height={500}>
          {(known) => <Editor key={JSON.stringify(stored.configuration)} stored={stored} known={known} />}
        </Loaded>
      )}
    </Loaded>
  );
}

interface EditorProps {
  stored: Schema<"ModelConfigurationResponse">;
  known: Known;
}

function Editor({ stored, known }: EditorProps) {
  const permissions = usePermissions();
  const save = useSaveModels();
  const check = useCheckModels();
  const [chosen, setChosen] = useState<Chosen>(stored.configuration as Chosen);
  const places = [...KINDS, "realtime" as const, "embeddings" as const].flatMap((kind) =>
    FIELDS.map((field) => `services.${kind}.${field}`),
  );
  const errors: Partial<Record<string, string>> = fieldErrors(save.error ?? check.error, places, SERVICE_LABELS);
  const store = () =>
    save.mutate(chosen, {
      onSuccess: () => notifySuccess("Models saved. New calls use them."),
      onError: () => check.reset(),
    });
  const ask = () => check.mutate(chosen, { onError: () => save.reset() });
  return (
    <Stack gap="lg">
      <Text c="dimmed" fz="sm" maw={720}>
        Agents use these models unless they select their own. Empty fields use the installation&apos;s defaults, and the
        offline models are always the last fallback.
      </Text>
      {permissions.admin && (
        <OneKey known={known} chosen={chosen} onUse={(services) => setChosen((now) => ({ ...now, ...services }))} />
      )}
      <LocalServers
        servers={known.local_servers}
        isReadOnly={!permissions.admin}
        onUse={(kind, service) => setChosen({ ...chosen, [kind]: service })}
      />
      <VoicePacksPanel onUse={(pack) => setChosen((now) => ({ ...now, ...servicesOf(pack) }))} />
      {KINDS.map((kind) => (
        <KindPanel
          key={kind}
          kind={kind}
          chosen={chosen}
          effective={stored.effective[kind]}
          providers={known.providers[kind] ?? []}
          isReadOnly={!permissions.admin}
          onChange={setChosen}
          errorAt={(field) => errors[`services.${kind}.${field}`]}
          result={check.data?.[kind]}
        />
      ))}
      <RealtimePanel
        chosen={chosen}
        providers={known.providers.realtime ?? []}
        isReadOnly={!permissions.admin}
        onChange={setChosen}
        errorAt={(field) => errors[`services.realtime.${field}`]}
        result={check.data?.realtime && <Result result={check.data.realtime} />}
        problem={check.data?.realtime?.message ?? undefined}
      />
      <EmbeddingsPanel
        service={chosen.embeddings}
        effective={stored.effective.embeddings}
        known={known.embeddings}
        isReadOnly={!permissions.admin}
        onChange={(embeddings) => setChosen({ ...chosen, embeddings })}
        errorAt={(field) => errors[`services.embeddings.${field}`]}
      />
      <FormProblem words={formError(save.error ?? check.error, places, SERVICE_LABELS)} />
      {permissions.admin && (
        <Group>
          <Button onClick={store} loading={save.isPending}>
            Save
          </Button>
          <Button variant="default" onClick={ask} loading={check.isPending}>
            Test models
          </Button>
          {stored.source === "organization" && (
            <Button
              variant="subtle"
              color="gray"
              onClick={() =>
                save.mutate(
                  {},
                  { onSuccess: () => notifySuccess("Reset to the installation defaults."), onError: notifyError },
                )
              }
            >
              Reset to defaults
            </Button>
          )}
        </Group>
      )}
    </Stack>
  );
}

/** What a voice pack takes over; it is saved with the rest of the form. */
function servicesOf(pack: InstalledPack): Partial<Record<Kind, Service>> {
  const service = { provider: "voice_pack", model: pack.name };
  return { ...(pack.tts === null ? {} : { tts: service }), ...(pack.stt === null ? {} : { stt: service }) };
}

interface KindPanelProps {
  kind: Kind;
  chosen: Chosen;
  effective: Schema<"EffectiveService">;
  providers: Vendor[];
  isReadOnly: boolean;
  onChange: (chosen: Chosen) => void;
  errorAt: (field: string) => string | undefined;
  result: Schema<"CheckResponse"> | undefined;
}

function KindPanel({ kind, chosen, effective, providers, isReadOnly, onChange, errorAt, result }: KindPanelProps) {
  const service = chosen[kind] ?? { provider: effective.provider };
  const others = chosen.fallbacks?.[kind] ?? [];
  const setOthers = (list: Service[]) => onChange({ ...chosen, fallbacks: { ...chosen.fallbacks, [kind]: list } });
  return (
    <Panel
      title={KIND_TITLES[kind]}
      right={result ? <Result result={result} /> : chosen[kind] === undefined && <Badge color="gray">Default</Badge>}
    >
      <Stack p="lg" gap="lg">
        {result && !result.ok && (
          <Alert color="red" variant="light" py="xs">
            {result.message}
          </Alert>
        )}
        <ServiceFields
          kind={kind}
          service={service}
          providers={providers}
          isReadOnly={isReadOnly}
          onChange={(next) => onChange({ ...chosen, [kind]: next })}
          errorAt={errorAt}
        />
        {others.map((other, index) => (
          <Stack key={index} gap="xs">
            <Group justify="space-between">
              <Text fz="sm" fw={600}>
                Fallback{others.length > 1 ? ` ${index + 1}` : ""}
              </Text>
              {!isReadOnly && (
                <Button
                  size="compact-sm"
                  variant="subtle"
                  color="red"
                  aria-label={`Remove fallback ${index + 1}: ${KIND_TITLES[kind]}`}
                  onClick={() => setOthers(others.filter((_, at) => at !== index))}
                >
                  Remove
                </Button>
              )}
            </Group>
            <ServiceFields
              kind={kind}
              service={other}
              providers={providers}
              isReadOnly={isReadOnly}
              onChange={(next) => setOthers(others.map((old, at) => (at === index ? next : old)))}
              errorAt={() => undefined}
            />
          </Stack>
        ))}
        {!isReadOnly && others.length < 5 && (
          <div>
            <Button
              size="compact-sm"
              variant="subtle"
              aria-label={`Add a fallback: ${KIND_TITLES[kind]}`}
              onClick={() => setOthers([...others, withProvider(providers[0]?.provider ?? "builtin")])}
            >
              Add a fallback
            </Button>
          </div>
        )}
      </Stack>
    </Panel>
  );
}

function Result({ result }: { result: Schema<"CheckResponse"> }) {
  if (!result.ok) return <Badge color="red">Failed</Badge>;
  // What runs in this process answers at once: no time to compare.
  return <Badge>{result.latency_ms < 1 ? "Works" : `Works, ${formatMilliseconds(result.latency_ms)}`}</Badge>;
}
