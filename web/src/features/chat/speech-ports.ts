/** The browser's own recognizer and voice behind two small ports. What it hears and says never reaches our server as sound. */

export interface Ear {
  /** Hears one utterance; `onEnd` comes last, also after a failure. */
  hear: (handlers: {
    onPartial: (text: string) => void;
    onFinal: (text: string) => void;
    onError: (reason: string) => void;
    onEnd: () => void;
  }) => void;
  stop: () => void;
}

export interface Mouth {
  /** Says one text; `onEnd` comes also when it is cut off. */
  say: (text: string, onEnd: () => void) => void;
  stop: () => void;
}

/** What browsers have of the Web Speech API; the name with a prefix is Chromium's. */
interface Recognition {
  lang: string;
  interimResults: boolean;
  continuous: boolean;
  onresult: ((event: { results: ArrayLike<ArrayLike<{ transcript: string }> & { isFinal: boolean }> }) => void) | null;
  onerror: ((event: { error: string }) => void) | null;
  onend: (() => void) | null;
  start: () => void;
  abort: () => void;
}

type RecognitionMaker = new () => Recognition;

function recognitionMaker(): RecognitionMaker | undefined {
  const names = window as { SpeechRecognition?: RecognitionMaker; webkitSpeechRecognition?: RecognitionMaker };
  return names.SpeechRecognition ?? names.webkitSpeechRecognition;
}

export function canHear(): boolean {
  return recognitionMaker() !== undefined;
}

export function canSpeak(): boolean {
  return "speechSynthesis" in window;
}

/** Whether a talk can be held with what this browser has. */
export function hasSpeech(): boolean {
  return canHear() && canSpeak();
}

export function browserEar(language: string): Ear | null {
  const Maker = recognitionMaker();
  if (Maker === undefined) return null;
  let open: Recognition | null = null;
  return {
    hear: ({ onPartial, onFinal, onError, onEnd }) => {
      const recognition = new Maker();
      open = recognition;
      recognition.lang = language;
      recognition.interimResults = true;
      recognition.continuous = false;
      recognition.onresult = ({ results }) => {
        const words = Array.from(results, (result) => result[0]?.transcript ?? "")
          .join(" ")
          .trim();
        const isFinal = Array.from(results).every((result) => result.isFinal);
        if (isFinal) onFinal(words);
        else onPartial(words);
      };
      recognition.onerror = (event) => onError(event.error);
      recognition.onend = onEnd;
      recognition.start();
    },
    stop: () => open?.abort(),
  };
}

export function browserMouth(language: string): Mouth | null {
  if (!canSpeak()) return null;
  return {
    say: (text, onEnd) => {
      const utterance = new SpeechSynthesisUtterance(text);
      utterance.lang = language;
      utterance.onend = onEnd;
      utterance.onerror = onEnd;
      window.speechSynthesis.speak(utterance);
    },
    stop: () => window.speechSynthesis.cancel(),
  };
}
