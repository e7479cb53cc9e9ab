BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBB
   pgettext(u'page title', u'Account security') 
BBBBBBBB
BBBBB BBBB
   pgettext(u'text, mfa', u'Account security') 
BBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXXXX
    XXXXX
      XXXX pgettext(u'page title', u'Account security') XXXXX
      XX XXXXXXXXXXXX gettext(u'Two-factor authentication protects your account even if someone learns your password.') XXXX
    XXXXXX
    XXXX XXXXXXXXXXXXXXXX
      XX XXXXXXXXXXX XXXXXXBBB BBBBBBBBBBBBBBBBXX pgettext(u'button', u'Sign-in methods') XXXX
      XX XXXXXXXXXXX
         XXXXXXBBB BBBBBBBBBBBBBBBBBBXX pgettext(u'button, interactive sessions', u'Sessions') XXXX
      XX XXXXXXXXXXX XXXXXXBBB BBBBBBBBBBBBBBBBBBBBBBBBBXX pgettext(u'button', u'Change password') XXXX
    XXXXXX
  XXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBB BBBBBBBBBBBBBB
      XXXX XXXXXXXXXXX XXXXXX
         gettext(u'Two-factor authentication is off. Add a passkey or an authenticator app; then you get recovery codes for the day you lose it.') 
      XXXXXX
    BBBBB
    XXXX XXXXXXXXXXXXXX
      XXXXXXXX
        XXXX gettext(u'Passkeys and security keys') XXXXX
        XXXXX XXXXXXXXXXXXXXFFFFFFXXXXXXX
      XXXXXXXXX
      XXXX XXXXXXXXXXX XXXXXXXXX
        XX XXXXXXXXXXXXXX
           gettext(u"Sign in with your device, phone or security key. A passkey doesn't need a password.") 
            SSSS SS SSSS SSSS SSSSSSS SSSSS SS SSSSSSSS SSSS S SSSSSSS SSSSSSS SSSS S SSSSSSSSS
          
        XXXX
        XXXX XXXXXXXXXX XXXXXXX
          BB BBBBBBBBBBBBBBBBBBBBBBB
            XX XXXXXXXXXXX XXXXXXBBB BBBBBBBBBBBBBBBBBBBXX pgettext(u'button', u'Manage') XXXX
          BBBBB
          XX XXXXXXXXXXBB BBB BBBBBBBBBBBBBB XXXXXXXBBBBBX
             XXXXXXBBB BBBBBBBBBBBBBBBBBBXX pgettext(u'button', u'Add passkey') XXXX
        XXXXXX
      XXXXXX
    XXXXXX
    XXXX XXXXXXXXXXXXXX
      XXXXXXXX
        XXXX pgettext(u'heading', u'Authenticator app') XXXXX
      XXXXXXXXX
      XXXX XXXXXXXXXXX XXXXXXXXX
        BB BBBBBBBBBBBBBBBBBBB
          XXX gettext(u"On. You're asked for a code when you sign in.") XXXX
          XXXXX
            XX XXXXXXXXXX XXXXXXX XXXXXXBBB BBBBBBBBBBBBBBBBBBBBBXX pgettext(u'button', u'Remove') XXXX
          XXXXXX
        BBBB
          XX XXXXXXXXXXXXXX gettext(u'Use an app on your phone that shows a new code every 30 seconds.') XXXX
          XXXXX
            XX XXXXXXXXXXX XXXXXXBBB BBBBBBBBBBBBBBBBBBBXX pgettext(u'button', u'Set up') XXXX
          XXXXXX
        BBBBB
      XXXXXX
    XXXXXX
    BB BBBBBBBBBBBBBB
      XXXX XXXXXXXXXXXXXX
        XXXXXXXX
          XXXX pgettext(u'heading', u'Recovery codes') XXXXX
        XXXXXXXXX
        XXXX XXXXXXXXXXX XXXXXXXXX
          BB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB
            XXX
               gettext(u'%(n)s codes left. Each one signs you in once if you lose your device.') 
                SSSSS SSSSS SSSSS SSSS SSS SSSSS SSS SS SSSS SS SSS SSSS SSSS SSSSSSS
              
            XXXX
          BBBB
            XX XXXXXXXXXXXXXX gettext(u'No recovery codes. Generate some in case you lose your device.') XXXX
          BBBBB
          XXXXX
            XX XXXXXXXXXXX XXXXXXBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBXX gettext(u'Generate new codes') XXXX
          XXXXXX
        XXXXXX
      XXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
