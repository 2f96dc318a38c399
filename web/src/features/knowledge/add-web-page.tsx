/** Adds a web page by its address. */

import { TextInput } from "@mantine/core";
import { FormDialog } from "../../components/forms/dialog";
import { notifySuccess } from "../../lib/ui/notifications";
import { useForm } from "../../lib/ui/use-form";
import { useAddWebPage } from "./api";
import { completeAddress } from "./web-address";

export function AddWebPage({ onClose }: { onClose: () => void }) {
  const add = useAddWebPage();
  const form = useForm({ address: "", name: "" }, add.error, { labels: { address: "Address", name: "Name" } });
  const { address, name } = form.values;
  const submit = () =>
    add.mutate(
      { address: completeAddress(address), ...(name.trim() === "" ? {} : { name }) },
      {
        onSuccess: (document) => {
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
