/** Who thinks, hears and speaks in the talk that is about to begin: nothing is chosen for anybody before they have clicked it. */

import { Button, Group, Stack, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Dialog } from "../../components/forms/dialog";
import { hasSpeech } from "../../features/chat";
import {
  type Chosen,
  type Kind,
  KIND_TITLES,
  type Known,
  type Service,
  useModelChoice,
  useModelDefaults,
  useSaveModels,
} from "../../features/settings/models/api";
import { OneKeyForm } from "../../features/settings/models/one-key";
import type { Schema } from "../../lib/api/types";
import { humanize } from "../../lib/format/format";
import { usePermissions } from "../../lib/organization/organization-context";
import { notifyError, notifySuccess } from "../../lib/ui/notifications";

type Stored = Schema<"ModelConfigurationResponse">;
type LocalServer = Schema<"LocalServerResponse">;

/** Runs where Offhook runs, without a vendor. */
const OFFLINE: ReadonlySet<string> = new Set(["builtin", "voice_pack"]);

interface VoiceChipsProps {
  isBrowserVoice: boolean;
  onBrowserVoice: (value: boolean) => void;
  isDisabled: boolean;
}

export function VoiceChips({ isBrowserVoice, onBrowserVoice, isDisabled }: VoiceChipsProps) {
  const { admin } = usePermissions();
  const stored = useModelChoice().data;
  // Only admins choose the models of an organization, so that only they need to know what else there is.
  const known = useModelDefaults(admin).data;
  const save = useSaveModels();
  const [isKeyOpen, setIsKeyOpen] = useState(false);
  const isLocked = isDisabled || save.isPending;
  const store = (chosen: Chosen, services: readonly Kind[], words: string) =>
    save.mutate(chosen, {
      onSuccess: () => {
        if (services.some((kind) => kind !== "llm")) onBrowserVoice(false);
        notifySuccess(words);
      },
      onError: notifyError,
    });
  const turn = (server: LocalServer) => {
    if (stored === undefined) return;
    const { [server.kind]: _, ...rest } = stored.configuration as Chosen;
    if (isUsed(server, stored)) store(rest, [], `New calls no longer use ${nameOf(server)}.`);
    else {
      const service = server.service as unknown as Service;
      store({ ...rest, [server.kind]: service }, [server.kind], `New calls use ${nameOf(server)}.`);
    }
  };
  return (
    <Stack gap={8} align="center">
      <Group role="group" aria-label="Models and voices" gap={8} justify="center">
        {hasSpeech() && (
          <Chip isOn={isBrowserVoice} isDisabled={isLocked} onClick={() => onBrowserVoice(true)}>
            This browser
          </Chip>
        )}
        <Chip isOn={!isBrowserVoice} isDisabled={isLocked} onClick={() => onBrowserVoice(false)}>
          {serverVoices(stored, known)}
        </Chip>
        {stored !== undefined &&
          known?.local_servers
            .filter((server) => isUsed(server, stored) || isOpen(server.kind, stored))
            .map((server) => (
              <Chip
                key={`${server.kind} ${server.base_url}`}
                isOn={isUsed(server, stored)}
                isDisabled={isLocked}
                title={KIND_TITLES[server.kind]}
                onClick={() => turn(server)}
              >
                {nameOf(server)}
              </Chip>
            ))}
        {stored !== undefined && known !== undefined && (
          <Button size="xs" radius="xl" variant="default" disabled={isLocked} onClick={() => setIsKeyOpen(true)}>
            A key…
          </Button>
        )}
      </Group>
      {hasSpeech() && (
        <Text fz="xs" c="dimmed" ta="center" maw={340}>
          This browser sounds better than the offline voices. It may send audio to its vendor.
        </Text>
      )}
      {stored !== undefined && known !== undefined && (
        <Dialog title="Use a vendor key" isOpen={isKeyOpen} onClose={() => setIsKeyOpen(false)} size="lg">
          <Stack>
            <OneKeyForm
              known={known}
              chosen={stored.configuration}
              hint="Offhook tests it. New calls of this organization use the models that work."
              submit="Test and use"
              afterwards="in use for new calls."
              onUse={(services) => {
                const kinds = Object.keys(services) as Kind[];
                if (kinds.length === 0) return;
                store({ ...(stored.configuration as Chosen), ...services }, kinds, "Models saved. New calls use them.");
              }}
            />
          </Stack>
        </Dialog>
      )}
    </Stack>
  );
}

interface ChipProps {
  isOn: boolean;
  isDisabled: boolean;
  title?: string;
  onClick: () => void;
  children: ReactNode;
}

function Chip({ isOn, isDisabled, onClick, children, title }: ChipProps) {
  return (
    <Button
      size="xs"
      radius="xl"
      variant={isOn ? "light" : "default"}
      aria-pressed={isOn}
      disabled={isDisabled}
      title={title}
      onClick={onClick}
    >
      {children}
    </Button>
  );
}

/** "llama3.2 on this machine": a language model is known by its name, a voice by its server. */
function nameOf(server: LocalServer): string {
  const model = server.models[0] ?? server.title;
  return `${server.kind === "llm" ? model.replace(/:latest$/, "") : server.title} on this machine`;
}

function isUsed({ kind, base_url: address }: LocalServer, { configuration, effective }: Stored): boolean {
  return kind in configuration && effective[kind].base_url === address;
}

/** Another choice is not overwritten by a click here: it is changed where all of it is seen. */
function isOpen(kind: Kind, { effective }: Stored): boolean {
  return OFFLINE.has(effective[kind].provider);
}

/** What the calls of the server speak and listen with. */
function serverVoices(stored: Stored | undefined, known: Known | undefined): string {
  const vendors = (["tts", "stt"] as const).flatMap((kind) => {
    const service = stored?.effective[kind];
    const isHere = known?.local_servers.some((server) => server.kind === kind && server.base_url === service?.base_url);
    if (service === undefined || OFFLINE.has(service.provider) || isHere === true) return [];
    const vendor = known?.providers[kind]?.find(({ provider }) => provider === service.provider);
    return [vendor?.title ?? humanize(service.provider)];
  });
  return vendors.length === 0 ? "Offline" : [...new Set(vendors)].join(" · ");
}
