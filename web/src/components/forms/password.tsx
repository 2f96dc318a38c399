/** A field for a secret; it says itself that it is wrong, which the library's own leaves to its frame. */

import { PasswordInput, type PasswordInputProps } from "@mantine/core";

export function Password(props: PasswordInputProps) {
  return (
    <PasswordInput
      {...props}
      aria-invalid={Boolean(props.error) || undefined}
      visibilityToggleFocusable
      visibilityToggleButtonProps={{ "aria-label": "Show or hide value" }}
    />
  );
}
