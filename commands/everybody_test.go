package commands

// everybodyOperates are users as allow all to everybody.
const everybodyOperates = "user default on nopass ~* &* +@all\n"
