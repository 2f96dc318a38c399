/** Whether the browser has a voice to speak with. Browsers load theirs a moment after they are first asked; some have none. */

import { useEffect, useState } from "react";
import { canSpeak } from "./speech-ports";

const LOADING_MS = 1_500;

export function useHasVoices(): boolean {
  const [has, setHas] = useState(canSpeak);
  useEffect(() => {
    if (!canSpeak()) return;
    const look = () => setHas(window.speechSynthesis.getVoices().length > 0);
    window.speechSynthesis.getVoices();
    const timer = window.setTimeout(look, LOADING_MS);
    window.speechSynthesis.addEventListener("voiceschanged", look);
    return () => {
      window.clearTimeout(timer);
      window.speechSynthesis.removeEventListener("voiceschanged", look);
    };
  }, []);
  return has;
}
