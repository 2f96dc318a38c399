"""What an author tells a model becomes what a caller hears."""

import pytest

from offhook.models.providers.builtin.english.instructions import speak_instructions


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("Ask what kind of animal it is.", "What kind of animal is it?"),
        (
            "Find out what is wrong with the pet or what it comes in for.",
            "What is wrong with the pet or what it comes in for?",
        ),
        ("Ask whether it is urgent or can wait until tomorrow.", "Is it urgent or can it wait until tomorrow?"),
        ("Ask which day suits the caller.", "Which day suits you?"),
        ("Ask what time would be best.", "What time would be best?"),
        ("Ask for the caller's full name.", "Could you please tell me your full name?"),
        (
            "ask if they want to order or if it's about an order they already made",
            "Do you want to order, or is it about an order you already made?",
        ),
        ("ask if we should deliver it or if they pick it up", "Should we deliver it, or do you pick it up?"),
        ("ask if they are new or already take lessons here", "Are you new, or do you already take lessons here?"),
        ("ask what to change", "What would you like to change?"),
        ("ask which items to renew", "Which items would you like to renew?"),
        ("ask about what they want to spend", "What do you want to spend?"),
        ("ask how long it's been like that", "How long has it been like that?"),
        ("read it all back and ask if its right", "Is that right?"),
        ("say the appointment back and ask if ok", "Is that ok?"),
        ("say the office will call them back", "The office will call you back."),
        ("name and phone number please", "Could you please tell me your name and phone number?"),
        ("ask what day and if morning or afternoon", "What day would you like, morning or afternoon?"),
        ("ask who it's for and how old they are", "Who is it for and how old are they?"),
        ("say Dana, the owner, will call them back today", "Dana, the owner, will call you back today."),
        ("say to call again between 2 and 7", "Please call again between 2 and 7."),
        (
            "offer a free trial, tuesday at 4 or thursday at 5, ask which",
            "I can offer you a free trial, Tuesday at 4 or Thursday at 5. Which one would you like?",
        ),
        (
            "Ask for a telephone number where we can reach them.",
            "Could you please tell me a telephone number where we can reach you?",
        ),
        ("Repeat the appointment and ask whether everything is right.", "Is everything right?"),
        ("Thank the caller and say goodbye.", "Thank you. Goodbye!"),
        ("Ask what the customer wants to eat.", "What do you want to eat?"),
        ("Ask for name.", "Could you please tell me your name?"),
        ("Ask name and date of birth", "Could you please tell me your name and date of birth?"),
        ("Your goal is to find out how many guests are coming.", "How many guests are coming?"),
        ("You should ask if they have a reservation.", "Do you have a reservation?"),
        ("- Greet the user warmly", "Hello!"),
        ("- Ask what they need help with", "What do you need help with?"),
        (
            "Start by welcoming the caller to Riverside Gym and ask what they are calling about.",
            "Hello, and welcome to Riverside Gym! What are you calling about?",
        ),
        ("Then ask them when they would like to come.", "When would you like to come?"),
        ("Ask the caller if they are interested in a free trial.", "Are you interested in a free trial?"),
        ("Ask where the car is parked.", "Where is the car parked?"),
        ("Get the address.", "Could you please tell me the address?"),
        (
            "Collect their email address and spell it back.",
            "Could you please tell me your email address?",
        ),
        ("Ask if the caller wants to hear about our offers.", "Do you want to hear about our offers?"),
        ("Confirm that the address is correct.", "Is the address correct?"),
        ("Confirm the details with the caller.", "Is that all correct?"),
        (
            "Tell the caller a technician will call back within the hour, then say goodbye.",
            "A technician will call back within the hour. Goodbye!",
        ),
        (
            "Explain that the parcel will be delivered tomorrow. Ask if there is anything else.",
            "The parcel will be delivered tomorrow. Is there anything else?",
        ),
        ("Ask how many people are coming to the party.", "How many people are coming to the party?"),
        ("Ask the caller to describe the noise.", "Could you please describe the noise?"),
        ("Ask them to hold while you check.", "Could you please hold while I check?"),
        (
            "Find out which room type they want: single, double or suite.",
            "Which room type do you want: single, double or suite?",
        ),
        ("Ask if anyone is injured.", "Is anyone injured?"),
        ("Ask if the water is still running.", "Is the water still running?"),
        ("Ask how they heard about us.", "How did you hear about us?"),
        ("Ask what happened.", "What happened?"),
        (
            "Apologize for the delay and ask for the order number.",
            "I'm sorry about the delay. Could you please tell me the order number?",
        ),
        ("Wish them a nice day.", "Have a nice day!"),
        ("Ask how long they have lived there.", "How long have you lived there?"),
        ("Ask whether they've been a member before.", "Have you been a member before?"),
        ("Find out the caller's budget.", "Could you please tell me your budget?"),
        ("Determine if the heating works.", "Does the heating work?"),
        (
            "Please greet the caller warmly, introduce yourself as Nora from Maple Street Clinic and ask them what you can do for them today.",
            "Hello! This is Nora from Maple Street Clinic. What can I do for you today?",
        ),
        (
            "Please find out politely whether the caller has already been a patient at our clinic.",
            "Have you already been a patient at our clinic?",
        ),
        (
            "Kindly ask for the caller's date of birth so that we are able to look up their file.",
            "Could you please tell me your date of birth?",
        ),
        (
            "Welcome the caller as a new patient and ask which health insurance they have, or whether they are going to pay for the visit themselves.",
            "Hello! Which health insurance do you have?",
        ),
        ("Ask the caller for their first and last name.", "Could you please tell me your first and last name?"),
        (
            "Ask, with some tact, what the reason for the visit is. Do not comment on it medically.",
            "What is the reason for the visit?",
        ),
        (
            "Stay calm. Tell the caller to hang up and dial 911 straight away. Ask whether they are able to do that.",
            "Please hang up and dial 911 straight away. Are you able to do that?",
        ),
        ("Say that help will be there soon and end the call.", "Help will be there soon."),
        ("Say hi from Brook Plumbing. Ask what's wrong.", "Hi, this is Brook Plumbing. What is wrong?"),
        (
            "Tell them to shut the main water valve. Ask if they managed.",
            "Please shut the main water valve. Did you manage?",
        ),
        (
            "Say the valve is usually under the kitchen sink or next to the water meter. Ask them to try again.",
            "The valve is usually under the kitchen sink or next to the water meter. Could you please try again?",
        ),
        ("Get phone number.", "Could you please tell me your phone number?"),
        ("Repeat name, address, phone and time. Ask if right.", "Is that right?"),
        (
            "Sum up the reservation (dates, room, breakfast, name) and ask the guest to confirm it.",
            "Could you please confirm it?",
        ),
        (
            "- Explain the plans: Basic 25 a month, Plus 40 a month, Premium 60 a month\n- Ask which one they would like",
            "The plans: Basic 25 a month, Plus 40 a month, Premium 60 a month. Which one would you like?",
        ),
        (
            "- Offer yoga, spinning or boxing\n- Ask which class they want",
            "I can offer you yoga, spinning or boxing. Which class do you want?",
        ),
        (
            "- Say that is okay\n- Ask for their member number",
            "That's okay. Could you please tell me your member number?",
        ),
        ("- Thank them\n- Say see you at the gym", "Thank you. See you at the gym."),
        ("Golden Wok, hi! Ask if it's for delivery or pickup.", "Golden Wok, hi! Is it for delivery or pickup?"),
        ("Ask street and house number.", "Could you please tell me your street and house number?"),
        ("Ask cash or card.", "Would that be cash or card?"),
        ("Read the order back. Ask if that's everything.", "Is that everything?"),
        ("Thank them and say enjoy your meal.", "Thank you. Enjoy your meal."),
        ("Request the employee number.", "Could you please tell me the employee number?"),
        (
            "For verification, request the name of the caller's line manager.",
            "Could you please tell me the name of your line manager?",
        ),
        ("Have the caller describe what happened to the device.", "Please describe what happened to the device."),
        (
            "Instruct the caller to unplug the router for ten seconds and plug it back in. Have them tell you whether it works now.",
            "Please unplug the router for ten seconds and plug it back in. Does it work now?",
        ),
        (
            "Request a phone number under which a technician can reach the caller.",
            "Could you please tell me a phone number under which a technician can reach you?",
        ),
        (
            "Inform the caller that a ticket has been opened and that a technician gets in touch within two hours. Find out if they need anything else.",
            "A ticket has been opened and a technician gets in touch within two hours. Do you need anything else?",
        ),
        (
            "In order to make suitable suggestions, enquire about the maximum price the caller would like to pay for the property.",
            "Could you please tell me the maximum price you would like to pay for the property?",
        ),
        (
            "Enquire which part of town or which surrounding village the caller has in mind.",
            "Which part of town or which surrounding village do you have in mind?",
        ),
        ("Enquire how many bedrooms the property should have.", "How many bedrooms should the property have?"),
        ("Enquire when they are hoping to move in.", "When are you hoping to move in?"),
        (
            "Express that we would be delighted to help, and enquire where the property is located.",
            "We would be delighted to help. Where is the property located?",
        ),
        (
            "Enquire about the caller's name and the telephone number on which we can reach them.",
            "Could you please tell me your name and the telephone number on which we can reach you?",
        ),
        ("Summarize what has been agreed and make sure that the caller is happy with it.", "Are you happy with it?"),
    ],
)
def test_an_instruction_becomes_a_sentence_to_the_caller(prompt: str, said: str) -> None:
    assert speak_instructions(prompt) == said


@pytest.mark.parametrize("prompt", ["", "You are Mia.", "Be kind. Never guess.", "If they are angry, stay calm."])
def test_what_is_meant_for_the_model_alone_is_not_said(prompt: str) -> None:
    assert speak_instructions(prompt) == ""
