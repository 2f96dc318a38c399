"""What the panel's callers say, by kind and in two sets that share no phrase but the commonest sounds.

Rules are developed on ``develop``; figures are reported on ``report``. A bar is a hesitation inside a sentence.
"""

from typing import Final, Literal

Pool = Literal["develop", "report"]
# interruption, command, answer: real; backchannel, tic, side: to be talked through; turn, pause: on a silent line
Kind = Literal["interruption", "command", "answer", "backchannel", "tic", "side", "turn", "pause"]
REAL: Final = frozenset({"interruption", "command", "answer"})

PHRASES: Final[dict[Pool, dict[str, tuple[str, ...]]]] = {
    "develop": {
        "interruption": (
            "Actually I wanted to ask about something else",
            "Can you tell me the price first",
            "I already have an account with you",
            "That is not what I asked for",
            "My order number is four two seven",
            "Sorry but I need this by Friday",
            "Do you also deliver to Boston",
            "I would rather speak to a person",
            "But what about the second package",
            "Okay so how much does it cost",
            "Yes but I also need a receipt",
            "Could you repeat the last part",
        ),
        "command": ("Stop", "Wait", "No", "Stop talking", "No no that is wrong", "Wait a minute please", "Cancel that"),
        "answer": ("Yes", "No thanks", "Yes please", "The second one", "On Tuesday", "No not today"),
        "backchannel": (
            "Mm-hmm", "Uh-huh", "Yeah", "Right", "Okay", "I see", "Sure", "Mhm", "Got it", "Yeah yeah", "Oh okay", "Yep",
        ),
        "tic": ("Um", "Uh", "Hmm", "<cough>", "<cough cough>", "<throat>", "<sneeze>"),
        "side": (
            "One second honey",
            "I am on the phone",
            "Put it on the table please",
            "No not you I am talking to the bank",
            "Can you close the door",
            "Hold on a second",
            "Tell him I will call back later",
            "Mom where are the keys",
        ),
        "turn": (
            "I would like to book a table for four",
            "What are your opening hours on Sunday",
            "I have a question about my last bill",
            "Please send it to my office",
            "Can I change my appointment to Monday",
            "It has been broken since yesterday",
            "Seven o'clock would be perfect",
            "My name is Daniel Carter",
            "Yes that sounds good",
            "I want to cancel my subscription",
        ),
        "pause": (
            "I would like to book a table for|four people on Friday",
            "My number is five five five|one two three four",
            "I wanted to ask if you|have anything on Tuesday afternoon",
            "So my package um|has not arrived yet",
            "The address is twelve|Maple Street in Portland",
            "I think the problem is that|the screen stays black",
            "We are coming on Monday and|staying until Thursday",
            "I need to talk to someone about|my insurance",
            "It was delivered last week but|the box was empty",
        ),
    },
    "report": {
        "interruption": (
            "Hang on I think you have the wrong name",
            "Is there a discount for students",
            "The package never came to my house",
            "I don't want the large one",
            "What time do you close today",
            "Well I was hoping for a refund",
            "You said that already",
            "How long will that take",
            "Right but that does not solve my problem",
            "Let me give you my customer number",
            "Please just send me an email",
            "Are you a real person",
        ),
        "command": ("Stop it", "Wait wait", "No", "Please stop", "Never mind", "Wait", "Go back"),
        "answer": ("Yes I do", "No", "Yeah sure", "The blue one", "Tomorrow morning", "Not really"),
        "backchannel": (
            "Mm-hmm", "Uh-huh", "Mhm", "Right right", "Okay", "Yes", "Alright", "I understand", "Sure sure", "Great", "Aha", "Yeah",
        ),
        "tic": ("Um", "Er", "Hmm", "<cough>", "<cough cough>", "<throat>", "<sneeze>"),
        "side": (
            "Just a moment sweetie",
            "I am talking to customer service",
            "Leave the dog alone please",
            "Yes I know I will be there soon",
            "Turn the music down",
            "Hang on one sec",
            "Who is at the door",
            "Dad is in the garden",
        ),
        "turn": (
            "I am calling about a delivery from last week",
            "How much is a ticket to Chicago",
            "Do you have anything free tomorrow afternoon",
            "Could you check the status of my claim",
            "I lost my card this morning",
            "We need two rooms for three nights",
            "Half past nine works for me",
            "This is Laura Bennett speaking",
            "No thank you that is all",
            "The washing machine makes a strange noise",
        ),
        "pause": (
            "We need a taxi from|the airport to the hotel",
            "My account number is eight eight one|zero nine two",
            "Could you tell me whether you|are open on holidays",
            "Well uh|I am not sure about the date",
            "I live at forty five|Oak Avenue near the station",
            "The reason I am calling is|my invoice was wrong",
            "I can come on Wednesday or|maybe Friday morning",
            "I want to send a parcel to|my sister in Denver",
            "I tried it twice and|it still does not work",
        ),
    },
}  # fmt: skip

# What the agent says: long statements, some of which end with a question about a choice.
STATEMENTS: Final = (
    "I have looked into this for you and there are several things that we can do about it right away.",
    "The standard plan comes with free delivery, a two year warranty and support on every day of the week.",
    "Once the form has arrived in our office, a colleague will check it and call you within three days.",
    "You will get a message with all of the details, together with a link that stays valid for one month.",
    "Our branch in the center is open from nine in the morning until eight in the evening, also on Saturdays.",
    "If anything is missing from the box, please keep the wrapping, because the driver needs it for the report.",
)
QUESTIONS: Final = (
    "Now that you know about both of them, would you like me to reserve the larger one for you?",
    "There are two days left on which our technician could come by, so shall I take the first one?",
)
