/** What a deletion is confirmed with beside a typed name: the password, and the code of two-step sign-in. */

import { TextInput } from "@mantine/core";
import { Password } from "../../components/forms/password";
import type { Form } from "../../lib/ui/use-form";

export interface Proof {
  current_password: string;
  code: string;
}

interface NeededProof {
  needs_password: boolean;
  needs_code: boolean;
}

export const NO_PROOF: Proof = { current_password: "", code: "" };

/** Only what is asked for is sent. */
export function proofOf({ needs_password, needs_code }: NeededProof, { current_password, code }: Proof) {
  return { ...(needs_password ? { current_password } : {}), ...(needs_code ? { code } : {}) };
}

export function isProofMissing({ needs_password, needs_code }: NeededProof, { current_password, code }: Proof) {
  return (needs_password && current_password === "") || (needs_code && code.trim() === "");
}

export function ProofFields({ needed, text }: { needed: NeededProof; text: Form<Proof>["text"] }) {
  return (
    <>
      {needed.needs_password && (
        <Password label="Your password" autoComplete="current-password" required {...text("current_password")} />
      )}
      {needed.needs_code && (
        <TextInput
          label="Code"
          description="The six digits in your authenticator app, or a recovery code"
          autoComplete="one-time-code"
          required
          {...text("code")}
        />
      )}
    </>
  );
}
