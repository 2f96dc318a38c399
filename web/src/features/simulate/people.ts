/** The people of the sandbox: their numbers decide how they behave. */

export interface SimulatedPerson {
  number: string;
  name: string;
  about: string;
}

const NUMBER = "+120155501";

export const PEOPLE: SimulatedPerson[] = [
  ["Answers and talks", "Picks up and answers each question."],
  ["Is busy", "The line is busy."],
  ["Does not answer", "Rings until the call times out."],
  ["Goes to voicemail", "A machine answers with a beep."],
  ["Hangs up", "Ends the call in the middle of the greeting."],
  ["Stays silent", "Picks up and says nothing."],
  ["Interrupts", "Talks over the agent."],
  ["Presses keys", "Answers with the keypad."],
  ["Asks for a person", "Asks to be transferred."],
].map(([name = "", about = ""], index) => ({ number: `${NUMBER}0${index + 1}`, name, about }));
