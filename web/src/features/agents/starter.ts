/** The smallest agent that works: it greets, hears what the caller wants, and says goodbye. */

export function starterDefinition(name: string) {
  return {
    nodes: [
      {
        id: "start",
        type: "startCall",
        position: { x: 0, y: 0 },
        data: {
          name: "Welcome",
          greeting_type: "text",
          greeting: `Hello, this is ${name}. How can I help you?`,
          prompt:
            "You answer the phone. In one or two friendly sentences, find out what the caller needs, then say that you have noted it.",
          allow_interrupt: true,
          add_global_prompt: true,
        },
      },
      {
        id: "end",
        type: "endCall",
        position: { x: 0, y: 240 },
        data: {
          name: "Goodbye",
          prompt: "Thank the caller and say goodbye in one sentence.",
          add_global_prompt: false,
        },
      },
    ],
    edges: [
      {
        id: "start-end",
        source: "start",
        target: "end",
        data: { label: "Done", condition: "The caller said what they need, or wants to end the call." },
      },
    ],
    viewport: { x: 0, y: 0, zoom: 1 },
  };
}
