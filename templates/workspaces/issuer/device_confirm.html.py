BBBBBBB BBBBBBBBBBBBBBBB
BBBB BBBB
BBBBB BBBBBBBBBBBBB
BBBBB BBBBBBB
  XXXXX
    XXXX gettext(u'Sign in to the CLI?') XXXXX
    XX XXXXXXXXXXXX XXXXXXXXXXX
  XXXXXX
  XXXX XXXXXXXXXXXXXXXXXXX
  XXXX XXXXXXXXXXXXX
    BB BBBBBBB
       gettext(u'The CLI on “%(machine)s” wants to act on your behalf for %(days)s days.') 
        SSS SSS SS SSSSSSSSSSSSS SSSSS SS SSS SS SSSS SSSSSS SSS SSSSSSSS SSSSS
      
    BBBB
       gettext(u'The CLI wants to act on your behalf for %(days)s days.') SSS SSS SSSSS SS SSS SS SSSS SSSSSS SSS SSSSSSSS SSSSS
    BBBBB
     gettext(u'Approve only if you just ran muster login and it shows this code.') 
  XXXXXX
  BB BBBB
    XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXX
      BBBBBBBBBB
      XXXXXX XXXXXXXXXXXXXX
        XXXXXX pgettext(u'field', u'Organization') XXXXXXX
        XXXXXXX XXXXXXXXXXX
          BBB BBB BB BBBB
            XXXXXXX XXXXXXXX BB BBBBBBBB BB BBBBXXXXXXXXBBBBBXXXXXXXXXX
          BBBBBB
        XXXXXXXXX
      XXXXXXXX
      XXXX XXXXXXXXXXXX
        XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Approve') XXXXXXXXX
        XXXXXXX XXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXX pgettext(u'button', u'Cancel') XXXXXXXXX
      XXXXXX
    XXXXXXX
  BBBB
    XXX gettext(u"You're not in an organization yet. Ask an administrator to invite you.") XXXX
  BBBBB
BBBBBBBB
