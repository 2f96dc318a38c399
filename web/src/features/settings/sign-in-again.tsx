/** What one can do where only a sign-in of the last minutes is proof enough: sign in again, and come back to this page. */

import { Alert, Button, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { FormProblem } from "../../components/forms/dialog";
import { api, unwrap } from "../../lib/api/client";
import { ApiError } from "../../lib/api/errors";
import { endSessionToReturn } from "../../lib/api/session";

export const FRESH_SIGN_IN = "fresh_sign_in_needed";

/** `what` is what the sign-in is needed for: "change this". Only accounts without a password are asked for one. */
export function SignInAgain({ what }: { what: string }) {
  const again = useSignInAgain();
  return (
    <Alert color="yellow" variant="light" role="alert" py="xs">
      <Stack gap={8} align="flex-start">
        <Text fz="sm">
          For your security, sign in again to {what}. You have no password, so you need a new sign-in link: ask your
          administrator for one first.
        </Text>
        <Button size="xs" variant="default" loading={again.isPending} onClick={() => again.mutate()}>
          Sign in again
        </Button>
      </Stack>
    </Alert>
  );
}

/** A form's problem; where it is the age of the sign-in, with the way out. */
export function ProofProblem({ error, words, what }: { error: unknown; words: string | null; what: string }) {
  if (error instanceof ApiError && error.code === FRESH_SIGN_IN) return <SignInAgain what={what} />;
  return <FormProblem words={words} />;
}

function useSignInAgain() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/auth/logout")),
    onSettled: () => {
      endSessionToReturn("Sign in again to continue where you left off.");
      queries.clear();
    },
  });
}
