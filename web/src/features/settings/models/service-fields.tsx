/** The fields of one service: its vendor, what the vendor lets one choose, and its key. */

import { Autocomplete, NumberInput, Select, SimpleGrid, TextInput } from "@mantine/core";
import { Password } from "../../../components/forms/password";
import { VoiceInput } from "../../../components/forms/voice-input";
import { VoicePreview } from "../../../components/forms/voice-preview";
import { usePermissions } from "../../../lib/organization/organization-context";
import { withServiceField, previewService, type AnyKind, type Service, type Vendor, withProvider } from "./api";

interface ServiceFieldsProps {
  kind: AnyKind;
  service: Service;
  providers: Vendor[];
  isReadOnly: boolean;
  onChange: (service: Service) => void;
  errorAt: (field: string) => string | undefined;
}

export function ServiceFields({ kind, service, providers, isReadOnly, onChange, errorAt }: ServiceFieldsProps) {
  const permissions = usePermissions();
  const vendor = providers.find((one) => one.provider === service.provider);
  const set = (name: keyof Service, value: string | number | null) => onChange(withServiceField(service, name, value));
  const common = (name: keyof Service) => ({ disabled: isReadOnly, error: errorAt(name) });
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
      <Select
        label="Vendor"
        allowDeselect={false}
        data={providers.map((one) => ({ value: one.provider, label: one.title }))}
        value={service.provider}
        onChange={(provider) => provider && provider !== service.provider && onChange(withProvider(provider))}
        {...common("provider")}
      />
      <Autocomplete
        label="Model"
        placeholder={vendor?.models[0]?.id ?? ""}
        data={vendor?.models.map((model) => model.id) ?? []}
        value={service.model ?? ""}
        onChange={(value) => set("model", value)}
        {...common("model")}
      />
      {kind === "tts" && (
        <>
          <VoiceInput
            label="Voice"
            placeholder={vendor?.voices[0]?.title ?? ""}
            description={vendor?.takes_other_voices ? "Or enter another voice ID" : undefined}
            voices={vendor?.voices}
            value={service.voice_id ?? ""}
            rightSectionPointerEvents="all"
            rightSection={
              permissions.write && <VoicePreview voice={previewService(service, vendor, permissions.admin)} />
            }
            onChange={(value) => set("voice_id", value)}
            {...common("voice_id")}
          />
          {vendor?.speed_range && (
            <NumberInput
              label="Speed"
              description="1 is normal speed"
              placeholder="1"
              step={0.05}
              decimalScale={2}
              value={service.speed ?? ""}
              onChange={(value) => set("speed", numberOf(value))}
              {...common("speed")}
            />
          )}
        </>
      )}
      {kind === "realtime" && (
        <VoiceInput
          label="Voice"
          placeholder={vendor?.voices[0]?.title ?? ""}
          voices={vendor?.voices}
          value={service.voice_id ?? ""}
          onChange={(value) => set("voice_id", value)}
          {...common("voice_id")}
        />
      )}
      {kind === "stt" && (
        <Autocomplete
          label="Language"
          placeholder="en-US"
          data={vendor?.languages ?? []}
          value={service.language ?? ""}
          onChange={(value) => set("language", value)}
          {...common("language")}
        />
      )}
      {kind === "llm" && (
        <>
          <NumberInput
            label="Temperature"
            placeholder="0.3"
            clampBehavior="none"
            min={0}
            max={2}
            step={0.1}
            decimalScale={2}
            value={service.temperature ?? ""}
            onChange={(value) => set("temperature", numberOf(value))}
            {...common("temperature")}
          />
          <NumberInput
            label="Max output tokens"
            clampBehavior="none"
            min={1}
            value={service.max_tokens ?? ""}
            onChange={(value) => set("max_tokens", numberOf(value))}
            {...common("max_tokens")}
          />
        </>
      )}
      {vendor?.needs_access_key_id && (
        <>
          <Autocomplete
            label="Region"
            placeholder={vendor.regions[0] ?? ""}
            data={vendor.regions}
            value={service.region ?? ""}
            onChange={(value) => set("region", value)}
            {...common("region")}
          />
          <TextInput
            label="Access key ID"
            placeholder="AKIA…"
            autoComplete="off"
            value={service.access_key_id ?? ""}
            onChange={(event) => set("access_key_id", event.currentTarget.value)}
            {...common("access_key_id")}
          />
        </>
      )}
      {(vendor?.needs_key || service.api_key !== undefined) && (
        <Password
          label={vendor?.needs_access_key_id ? "Secret access key" : "API key"}
          description={keyHint(kind, service.api_key)}
          autoComplete="off"
          value={service.api_key ?? ""}
          onChange={(event) => set("api_key", event.currentTarget.value)}
          {...common("api_key")}
        />
      )}
      {vendor?.takes_base_url && (
        <TextInput
          label="Base URL"
          description="Only for self-hosted servers"
          placeholder="https://…/v1"
          value={service.base_url ?? ""}
          onChange={(event) => set("base_url", event.currentTarget.value)}
          {...common("base_url")}
        />
      )}
    </SimpleGrid>
  );
}

function keyHint(kind: AnyKind, key: string | undefined): string {
  if (key?.includes("*") || key?.includes("…")) return "Saved. Enter a new key to replace it.";
  return kind === "realtime"
    ? "Leave empty to use the key of another model of this vendor. Stored encrypted."
    : "Stored encrypted. Never shown again.";
}

function numberOf(value: string | number): number | null {
  return typeof value === "number" ? value : null;
}
