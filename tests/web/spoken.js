// The speech of a browser, with a caller in front of it: what the agent said last decides what the caller says next.
(() => {
  const log = { spoken: [], started: 0 };
  let answers = [];
  window.browserSpeech = { log, answerWith: (given) => (answers = given) };

  class Recognition {
    start() {
      log.started += 1;
      const question = log.spoken.at(-1) ?? "";
      const found = answers.find((one) => question.includes(one.question));
      // The first time they only think: a recognizer ends after a silence.
      if (found === undefined || !found.hasThought) {
        if (found !== undefined) found.hasThought = true;
        this.end(100);
        return;
      }
      const result = (transcript, isFinal) => ({ results: [Object.assign([{ transcript }], { isFinal })] });
      this.timers = [
        setTimeout(() => this.onresult?.(result(found.answer.slice(0, 3), false)), 50),
        setTimeout(() => this.onresult?.(result(found.answer, true)), 150),
      ];
      this.end(200);
    }

    end(ms) {
      (this.timers ??= []).push(setTimeout(() => this.onend?.(), ms));
    }

    abort() {
      this.timers?.forEach(clearTimeout);
      this.onend?.();
    }
  }

  const voices = {
    getVoices: () => [{ name: "Browser", lang: "en-US", default: true, localService: true, voiceURI: "browser" }],
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
    speak: (utterance) => {
      log.spoken.push(utterance.text);
      setTimeout(() => utterance.onend?.(new Event("end")), 100);
    },
    cancel: () => undefined,
  };
  window.SpeechRecognition = Recognition;
  Object.defineProperty(window, "speechSynthesis", { value: voices });
})();
