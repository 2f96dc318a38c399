/** Better offline voices: what is installed on the server's machine, what a mirror offers, and the installation. */

import { Anchor, Stack, Text } from "@mantine/core";
import { Loaded } from "../../../../components/layout/page";
import { Panel } from "../../../../components/layout/panel";
import { useAccount } from "../../../../lib/organization/organization-context";
import { type InstalledPack, type Packs, usePacks } from "./api";
import { InstallationProgress } from "./installation-progress";
import { InstalledPacks } from "./installed-packs";
import { MirrorForm } from "./mirror-form";
import { OfferCard } from "./offer-card";

interface VoicePacksPanelProps {
  onUse: (pack: InstalledPack) => void;
}

/** Nothing for those who do not run the installation. */
export function VoicePacksPanel({ onUse }: VoicePacksPanelProps) {
  return useAccount().data?.is_superuser === true ? <PacksOfMachine onUse={onUse} /> : null;
}

function PacksOfMachine({ onUse }: VoicePacksPanelProps) {
  const packs = usePacks();
  return (
    <div id="offline-voices">
      <Panel title="Better offline voices">
        <Stack p="lg" gap="lg">
          <Text c="dimmed" fz="sm" maw={720}>
            A voice pack is a recognizer and a voice that run on the server. It is downloaded once and then used without
            a network. Offhook does not include one: you choose the mirror that it comes from.{" "}
            <Anchor
              href="https://k2-fsa.github.io/sherpa/onnx/"
              target="_blank"
              rel="noreferrer"
              fz="sm"
              underline="always"
            >
              Where models are published
            </Anchor>
          </Text>
          <Loaded query={packs} what="The voice packs">
            {(found) => <Content found={found} onUse={onUse} />}
          </Loaded>
        </Stack>
      </Panel>
    </div>
  );
}

function Content({ found, onUse }: { found: Packs; onUse: (pack: InstalledPack) => void }) {
  const isRunning = found.installation?.state === "running";
  return (
    <>
      <InstalledPacks packs={found.packs} isBusy={isRunning} onUse={onUse} />
      <InstallationProgress found={found} />
      {!isRunning && <OfferCard found={found} />}
      <MirrorForm key={found.mirrors.addresses.join("\n")} mirrors={found.mirrors} />
    </>
  );
}
