/** Files on their way: each with how much has gone, or why it was refused. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../lib/api/errors";
import { uploadDocument } from "../../lib/api/document-upload";

export interface Upload {
  id: number;
  name: string;
  share: number;
  problem: string | null;
}

let lastId = 0;

export function useUploads() {
  const queries = useQueryClient();
  const [uploads, setUploads] = useState<Upload[]>([]);
  const change = (id: number, part: Partial<Upload>) =>
    setUploads((before) => before.map((one) => (one.id === id ? { ...one, ...part } : one)));
  const dismiss = (id: number) => setUploads((before) => before.filter((one) => one.id !== id));
  const start = async (file: File) => {
    const id = ++lastId;
    setUploads((before) => [...before, { id, name: file.name, share: 0, problem: null }]);
    try {
      await uploadDocument(file, (share) => change(id, { share }));
      dismiss(id);
    } catch (error) {
      change(id, { problem: messageOf(error) });
    }
    void queries.invalidateQueries({ queryKey: ["documents"] });
  };
  return { uploads, dismiss, add: (files: Iterable<File>) => [...files].forEach((file) => void start(file)) };
}
