BBBB BBBB BBBBBB
 #
 #
 #

XXXXXXXXXXXXXX XXXXXXXXXXXXXX
               XXXXXXX pgettext(u'heading', u'New token') X
               XXXXXXXX pgettext(u'button', u'Create token') X
               XXXXXXXXXXXX
               XXXXXXXXXXXXXXXXX
  BBBB
  BB BBBBBBB
    XXXXXX XXXXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXX
  BBBBB
  BB BBBBBBB
     pgettext(u'example', u'nightly builds') 
  BBBB
     pgettext(u'example', u'laptop') 
  BBBBB
   gettext(u'What is it for?') 
  XXXXXXXXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXXX XX
  BB BBB BBBBBBB
    XX XXXXXXXXXXXX XXXXXX XXXXXXXXXXXXXXX
       gettext(u'For CI, a service account is better: its token keeps working when you leave, and its jobs are not yours.') 
      XX XXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'link', u'Service accounts') XXXX
    XXXX
  BBBBB
  XXXX XXXXXXXXXXXXXXX
    XXXXXX XXXXXXXXXXXXXX
      XXXXXX pgettext(u'field', u'Name') XXXXXXX
      XXXXXX XXXXXXXXXXX
             XXXXXXXXXXX
             XXXXXXXX
             XXXXXXXXXXXXXXX
             XXXXXXXXXXXXXXX
    XXXXXXXX
    XXXXXX XXXXXXXXXXXXXX
      XXXXXX gettext(u'Expires after (days)') XXXXXXX
      XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXX XXXXXXX XXXXXXXXXXX
      XXXXXX XXXXXXXXXXXXXX gettext(u'0 means that it never expires.') XXXXXXXX
    XXXXXXXX
    XXXXXX XXXXXXXXXXXXXX
      XXXXXX pgettext(u'field', u'Limit to team') XXXXXXX
      XXXXXXX XXXXXXXXXXXX
        XXXXXXX XXXXXXXXX
          BB BBBBBBB
             pgettext(u'choice', u'All its teams') 
          BBBB
             pgettext(u'choice', u'All my teams') 
          BBBBB
        XXXXXXXXX
        BBB B BB BBBBB
          XXXXXXX XXXXXXXXXXXXXXXXXX
        BBBBBB
      XXXXXXXXX
    XXXXXXXX
    XXXXXX XXXXXXXXXXXXXX
      XXXXXX gettext(u'Limit to networks') XXXXXXX
      XXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXXXXX gettext(u'Empty: it works from anywhere.') XXXXXXXX
    XXXXXXXX
    BB BBBBBBBB
      XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXX
        XXXXXX gettext(u'For node agents of') XXXXXXX
        XXXXXXX XXXXXXXXXXXXXXX
          XXXXXXX XXXXXXXXXXXXXXXXXXX
          BBB B BB BBBBBBBB
            XXXXXXX XXXXXXXXXXXXXXXXXX
          BBBBBB
        XXXXXXXXX
        XXXXXX XXXXXXXXXXXXXX gettext(u"It may only send measurements of this cluster's nodes.") XXXXXXXX
      XXXXXXXX
    BBBBB
  XXXXXX
  XXXXXXXXX
    XXXXXXXX XXXXXXXXXXXX XXXXXXX pgettext(u'heading', u'Customize') XXXXXXXXXX
    XXXX XXXXXXXXXXXXXX XXXXXX
      BBB B BB BBBBBBBBBBB
        XXXXXX XXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXX
          XXXXXX
            FFFFFFFFFFFFFFFFFF XXXXX XXXXXXXXXXXX XXXX XXXXXXXXXXXXXX
          XXXXXXX
        XXXXXXXX
      BBBBBB
    XXXXXX
    XX XXXXXXXXXXXX XXXXXXX gettext(u'A token never allows more than its owner may do.') XXXX
  XXXXXXXXXX
XXXXXXXXXXXXXXXX
