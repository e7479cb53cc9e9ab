BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXX pgettext(u'page title', u'Notifications') X XX
  BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBBB
  XXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXX
    XXXX XXXXXXXXXX XXXXXXXXX
      XXXX XXXXXXXXXXXXX
           XXXXXXXXXXXX pgettext(u'filter of notifications', u'Show') XX
        XX XXXXXXXXXXXX
           XXXXXXXXXXXXXXXXXXXXXBBBBB BBBBBBBBBX
           BB BBBBBBXXXXXXXXXXXXXXXXXXXBBBBBX pgettext(u'state', u'All') XXXX
        XX XXXXXXXXXXXX
           XXXXXXXXXXXXXXXXXXXXXBBBBB BBBBBBBBBBBBB BBBBBBBBBX
           BB BBBBBBBBBXXXXXXXXXXXXXXXXXXXBBBBBX
           pgettext(u'state', u'Unread')  XXXXX XXXXXXXXXXXXXXXXXXXXX
        XXXX
      XXXXXX
      XXXX XXXXXXXXXX XXXXXXX
        XXXXX XXXXXXXXXXXX
              XXXXXXXXXXXXXXXXXXXXXXXX
              XXXXXXXXXX XXXXX XXXXXXXXX
          BB BBBBBBBBBXXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXBBBBB
          XXXXXXX XXXXXXXXXXXXXX
                  XXXXXXXXXXX
                  XXXXXXXXXXXXXXX
                  XXXXXXXXXXXX pgettext(u'spoken label, type', u'Kind') XX
            XXXXXXX XXXXXXXXX pgettext(u'choice', u'All kinds') XXXXXXXXX
            BBB B BB BBBBB
              XXXXXXX XXXXXXXX BB BBBBBB BB BBBBXXXXXXXXBBBBBXFFFFFFFFFFXXXXXXXXX
            BBBBBB
          XXXXXXXXX
          XXXXXXXXXX
            XXXXXXX XXXXXXXXXX XXXXXXX pgettext(u'button', u'Apply') XXXXXXXXX
          XXXXXXXXXXX
        XXXXXXX
        BB BBBBBB
          XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXX XXXXXXXXXX
            BBBBBBBBBB
            XXXXXXX XXXXXXXXXX XXXXXX XXXXXXXXX XXXXXXXXXXXXXXXXX gettext(u'Mark all as read') XXXXXXXXX
          XXXXXXX
        BBBBB
      XXXXXX
    XXXXXX
    BB BBBB
      XXXX XXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXXXXXXXXXXXXXXX
            XXXX
              XXXX pgettext(u'column', u'Notification') XXXXX
              XXXX pgettext(u'column', u'Time') XXXXX
              XXXX pgettext(u'column', u'Actions') XXXXX
            XXXXX
          XXXXXXXX
          BBB BBB BB BBBB
            XXXXXXX
              XXX XXXXXXXXXXXX
                XXX XXXXXXXXXXX XXXXXXXXXXXXXXXXXFFFFFFFFFFXXXXX
              XXXXX
              BBB BBBBB BB BBBBBBBBBB
                BB BBBBBBBBBBBBBBBBB BB B
                  BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBB
                BBBB
                  BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBB
                BBBBB
              BBBBBB
            XXXXXXXX
          BBBBBB
        XXXXXXXX
      XXXXXX
      BB BBBBB
        XXXX XXXXXXXXXXXXX
             XXXXXXXXXXXX pgettext(u'spoken label', u'Pages') XX
          XXXXX XXXXXXXXXXXXXXXXXXXXXX
          XX XXXXXXXXXX XXXXXX
             XXXXXXXXXX
             XXXXXXXXXXXXXXXXXXXXXBBBBB BBBBBBBBBBBBBBBBBBBBB BBBBBBBBB BBBBBBBBBBBBXX pgettext(u'button', u'Older') XXXX
        XXXXXX
      BBBBB
    BBBB BBBBBBBBBB
      XXXXXXXX XXXXXXX pgettext(u'empty list', u'Nothing here') XX
         gettext(u'No notification matches. Clear the filter to see all.') 
        XXXXXXX XXXXXXXXXXXXXXX
          XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXX gettext(u'Clear the filter') XXXX
        XXXXXXXXX
      XXXXXXXXXX
    BBBB
      XXXXXXXX XXXXXXX gettext(u'No notifications yet') X
               XXXXXXXXXXXXXXX XXXXXXXXXXXXX XXXXXX
         gettext(u'When a job of yours fails, a request needs you or GPUs are idle, you read it here.') 
        XXXXXXX XXXXXXXXXXXXXXX
          XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'Choose your notifications') XXXX
        XXXXXXXXX
      XXXXXXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
