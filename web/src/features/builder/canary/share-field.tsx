/** The choice in the publish dialog: all calls at once, or a share of them first. */

import { Box, Checkbox, NumberInput } from "@mantine/core";

export const DEFAULT_SHARE = 10;
const MAX_SHARE = 50;

interface ShareFieldProps {
  /** Percent of calls; null: all of them. */
  share: number | null;
  onChange: (share: number | null) => void;
}

export function isShare(share: number | null): boolean {
  return share === null || (Number.isInteger(share) && share >= 1 && share <= MAX_SHARE);
}

export function ShareField({ share, onChange }: ShareFieldProps) {
  return (
    <>
      <Checkbox
        label="Try on a share of calls first"
        description="Each caller stays with one version. The new version is published or rolled back depending on how its calls go."
        checked={share !== null}
        onChange={(event) => onChange(event.currentTarget.checked ? DEFAULT_SHARE : null)}
      />
      {share !== null && (
        // Below the label of the box that it belongs to.
        <Box ml={32}>
          <ShareInput share={share} onChange={onChange} />
        </Box>
      )}
    </>
  );
}

interface ShareInputProps {
  share: number;
  onChange: (share: number) => void;
}

export function ShareInput({ share, onChange }: ShareInputProps) {
  return (
    <NumberInput
      label="Share of calls"
      suffix="%"
      clampBehavior="none"
      min={1}
      max={MAX_SHARE}
      maw={160}
      allowDecimal={false}
      value={share}
      error={isShare(share) ? null : `Enter 1 to ${MAX_SHARE}%.`}
      onChange={(value) => onChange(typeof value === "number" ? value : 0)}
    />
  );
}
