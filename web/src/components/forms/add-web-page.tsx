/** Adds a web page to the documents by its address. */

import { TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../lib/api/client";
import type { Schema } from "../../lib/api/types";
import { completeAddress } from "../../lib/format/web-address";
import { notifySuccess } from "../../lib/ui/notifications";
import { useForm } from "../../lib/ui/use-form";
import { FormDialog } from "./dialog";

interface AddWebPageProps {
  onClose: () => void;
  onAdded?: (document: Schema<"DocumentResponse">) => void;
}

function useAddWebPage() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: { address: string; name?: string }) =>
      unwrap(api.POST("/api/v1/knowledge-base/pages", { body: { retrieval_mode: "auto", ...body } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["documents"] }),
  });
}

export function AddWebPage({ onClose, onAdded }: AddWebPageProps) {
  const add = useAddWebPage();
  const form = useForm({ address: "", name: "" }, add.error, { labels: { address: "Address", name: "Name" } });
  const { address, name } = form.values;
  const submit = () =>
    add.mutate(
      { address: completeAddress(address), ...(name.trim() === "" ? {} : { name }) },
      {
        onSuccess: (document) => {
          onAdded?.(document);
          notifySuccess(`Reading “${document.name}”.`);
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title="Add a web page"
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit="Add page"
      isBusy={add.isPending}
      problem={form.problem}
    >
      <TextInput
        label="Address"
        description="Only this page is read, not the pages it links to. It must be public."
        placeholder="https://example.com/opening-hours"
        type="url"
        inputMode="url"
        autoCapitalize="none"
        spellCheck={false}
        required
        data-autofocus
        {...form.text("address")}
      />
      <TextInput label="Name" placeholder="Same as the address" {...form.text("name")} />
    </FormDialog>
  );
}
